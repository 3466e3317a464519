import { toolCategory } from '@whetstone/agents/tool-calls';
import { requireConditions, requireEvent, requirePattern, requireTool } from '../expect/arguments.ts';
import { commandsOf, pathTest } from '../expect/commands.ts';
import { matchFile, shellEdit, toolEdit } from '../expect/edits.ts';
import { matchEvent } from '../expect/events.ts';
import { far, isMatcher, type Match, matched, mismatched } from '../expect/matcher.ts';
import type { EventPattern, TextPattern, ToolCall, ToolConditions, ToolPattern } from '../expect/patterns.ts';
import { show } from '../expect/show.ts';
import { contains } from '../expect/texts.ts';
import { commandLineOf, toolMatcher } from '../expect/tools.ts';
import { type MaybeLater, whenKnown } from '../expect/when-known.ts';
import { type Evidence, eventsIn, type ObservedCall } from './evidence.ts';
import { findOccurrences, type Occurrences } from './occurrences.ts';

/** Something that an agent may have done. `find` gives each time that it did it. */
export type Activity = {
  readonly kind: 'activity';
  readonly label: string;
  find(evidence: Evidence): MaybeLater<Occurrences>;
};

/** Ran a shell command whose text contains this, that the expression matches, or that fits a matcher. */
export function running(command: ToolPattern): Activity {
  requireTool('ran()', command);
  const match = (call: ToolCall): MaybeLater<Match> => {
    const line = commandLineOf(call);
    if (line === undefined) return far(`"${call.name}" does not run a shell command`);
    if (call.status === 'rejected') return mismatched(`${show(line)} was rejected`);
    if (isMatcher(command)) return command.match(call);
    const text = command as TextPattern;
    return contains(line, text) ? matched(`ran ${show(line)}`) : mismatched(`the command is ${show(line)}`);
  };
  return callActivity('ran', command, match);
}

/** Read a file, with a tool for it or with a shell command that names it. A path may be a glob. */
export function reading(path: TextPattern): Activity {
  requirePattern('read()', path);
  return callActivity('read', path, (call) => {
    const category = commandsOf(call) ? 'shell' : toolCategory(call.name);
    if (!READERS.has(category) || call.status === 'rejected') return far(`"${call.name}" did not read it`);
    return matchFile(call, category, path);
  });
}

/** What may read a file that it names. */
const READERS = new Set(['shell', 'file_read', 'grep', 'unknown']);

/** Changed a file: with a tool for it, with a shell command that names it, or as the host found. Default: any file. */
export function editing(path?: TextPattern): Activity {
  if (path !== undefined) requirePattern('edited()', path);
  const byCall = (call: ToolCall): Match => (commandsOf(call) ? shellEdit(call, path) : toolEdit(call, path));
  const isWanted = path === undefined ? () => true : pathTest(path);
  return {
    kind: 'activity',
    label: `edited(${path === undefined ? '' : show(path)})`,
    find(evidence) {
      const changes = eventsIn(evidence, 'file.changed').filter(({ event }) => isWanted(event.path));
      const told = changes.map(({ event, ...at }) => ({ ...at, match: matched(`${event.path} changed`) }));
      return whenKnown(findOccurrences(evidence.calls, byCall, evidence.isObserved), (calls) => {
        const hits = [...calls.hits, ...told].sort((one, other) => one.position - other.position);
        return { ...calls, hits };
      });
    },
  };
}

/** Called a tool. */
export function calling(
  tool: ToolPattern,
  conditions: ToolConditions = {},
  method = 'calledTool()',
): Activity {
  requireTool(method, tool);
  requireConditions(method, conditions);
  const matcher = toolMatcher(tool, conditions);
  return callActivity('calledTool', tool, (call) => matcher.match(call));
}

/** An event of this kind happened. */
export function seeing(pattern: EventPattern, method = 'event()'): Activity {
  requireEvent(method, pattern);
  return {
    kind: 'activity',
    label: `event(${labelOf(pattern)})`,
    find: (evidence) =>
      findOccurrences(
        eventsIn(evidence),
        ({ event }) => matchEvent(event, pattern),
        evidence.isObserved || isAlwaysSeen(pattern),
      ),
  };
}

/** The agent said this: a message of it contains the text, or the expression matches. */
export function saying(text: TextPattern): Activity {
  requirePattern('said()', text);
  return {
    kind: 'activity',
    label: `said(${show(text)})`,
    find: (evidence) =>
      findOccurrences(
        eventsIn(evidence, 'message').filter(
          ({ event }) => event.role === 'assistant' && event.parentCallId === undefined,
        ),
        ({ event }) => (contains(event.text, text) ? matched('said it') : far('said something else')),
        true,
      ),
  };
}

function callActivity(
  name: string,
  pattern: ToolPattern | TextPattern,
  match: (call: ObservedCall) => MaybeLater<Match>,
): Activity {
  return {
    kind: 'activity',
    label: `${name}(${labelOf(pattern)})`,
    find: (evidence) => findOccurrences(evidence.calls, match, evidence.isObserved),
  };
}

export const labelOf = (pattern: ToolPattern | EventPattern): string =>
  isMatcher(pattern) ? pattern.label : show(pattern);

/** Every agent reports these as they happen; the others only with the capability `toolObservability`. */
const ALWAYS_SEEN = new Set(['message', 'input.requested', 'error', 'session.started']);

const isAlwaysSeen = (pattern: EventPattern): boolean => ALWAYS_SEEN.has(typeOf(pattern) ?? '');

function typeOf(pattern: EventPattern): string | undefined {
  if (typeof pattern === 'string') return pattern;
  const type = isMatcher(pattern) ? undefined : (pattern as Record<string, unknown>).type;
  return typeof type === 'string' ? type : undefined;
}
