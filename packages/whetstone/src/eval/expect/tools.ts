import { shellCommand } from '@whetstone/events/reading';
import { requireConditions, requirePattern } from './arguments.ts';
import { matchJson } from './json-match.ts';
import { allOf } from './logic.ts';
import { far, isMatcher, type Match, type Matcher, matched, matchIf, unavailable } from './matcher.ts';
import type { TextPattern, ToolCall, ToolConditions, ToolPattern } from './patterns.ts';
import { show } from './show.ts';
import { fits } from './texts.ts';
import { type MaybeLater, whenAllKnown } from './when-known.ts';

/** A tool call by its name, and by parts of its input, output and status. */
export function toolMatch(name: TextPattern, conditions: ToolConditions = {}): Matcher<ToolCall> {
  requirePattern('toolMatch()', name);
  requireConditions('toolMatch()', conditions);
  const isPlain = Object.keys(conditions).length === 0;
  return {
    label: `toolMatch(${show(name)}${isPlain ? '' : `, ${show(conditions)}`})`,
    match(call) {
      if (!fits(call.name, name)) return far(`the tool is "${call.name}"`);
      return isPlain ? matched(`the tool is "${call.name}"`) : matchConditions(call, conditions);
    },
  };
}

/** The tool that a pattern means: an exact name, an expression for the name, or a matcher. */
export function toolMatcher(pattern: ToolPattern, conditions: ToolConditions = {}): Matcher<ToolCall> {
  if (!isMatcher(pattern)) return toolMatch(pattern as TextPattern, conditions);
  if (Object.keys(conditions).length === 0) return pattern;
  return {
    label: `${pattern.label}, ${show(conditions)}`,
    match: (call) => whenAllKnown([pattern.match(call), matchConditions(call, conditions)], allOf),
  };
}

/** A result that was not recorded cannot match and cannot mismatch. */
export function matchConditions(
  call: { status: string; input?: unknown; output?: unknown },
  { input, output, status }: ToolConditions,
): MaybeLater<Match> {
  const parts: MaybeLater<Match>[] = [];
  if (input !== undefined) parts.push(matchJson(call.input, input, 'input'));
  if (status !== undefined) {
    const isOpen = call.status === 'pending' && status !== 'pending';
    const reason = isOpen ? 'no result was recorded' : `the status is ${call.status}`;
    parts.push(isOpen ? unavailable(reason) : matchIf(call.status === status, reason));
  }
  if (output !== undefined) {
    parts.push(
      call.output === undefined
        ? unavailable('the output was not collected')
        : matchJson(call.output, output, 'output'),
    );
  }
  return whenAllKnown(parts, allOf);
}

/** A command that ended with exit code 0: what `sandbox.runCommand` gives, or a tool call with an exit code. */
export function commandSucceeded(): Matcher<unknown> {
  return {
    label: 'commandSucceeded()',
    match(value) {
      const result = fieldsOf(value);
      const code = exitCodeOf(result) ?? exitCodeOf(fieldsOf(result.output));
      if (code === undefined) return unavailable(`${show(value)} has no exit code`);
      const said = String(result.stderr || result.stdout || '')
        .trim()
        .split('\n')
        .slice(-5)
        .join('\n');
      return matchIf(
        code === 0,
        `the exit code is ${code}${code === 0 || said === '' ? '' : `: ${show(said)}`}`,
      );
    },
  };
}

/** The exit code of a shell call where its output has one. */
export function exitCodeOf({ exitCode, exit_code }: Record<string, unknown>): number | undefined {
  const code = exitCode ?? exit_code;
  return typeof code === 'number' ? code : undefined;
}

export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

/** The text of a shell call's command, without the shell that runs it; `undefined` for other tools. */
export const commandLineOf = (call: ToolCall): string | undefined => shellCommand(call)?.line;
