import { resolve } from 'node:path';
import { findDrivenAgent } from '@whetstone/agents';
import { present } from '@whetstone/events/present';
import type { Capture } from '../capture/capture.ts';
import { captureAgent } from '../capture/capture-agent.ts';
import { newestCapture, storeCapture, writeCapture } from '../capture/capture-store.ts';
import { type CaptureChanges, compareCaptures, isSame, toolNames } from '../capture/compare-captures.ts';
import { counted } from '../report/format.ts';
import { oneLine, plainText } from '../report/sanitize.ts';
import { onInterrupt } from './interrupt.ts';
import type { Streams } from './streams.ts';
import { type Colors, terminalColors } from './terminal-features.ts';

export type CaptureCommandOptions = { model?: string; diff?: boolean; output?: string; json?: boolean };

/**
 * Captures what an installed agent sends to its model, and stores it in the user's cache. `--diff` also shows what
 * changed since the previous capture of the same agent and model. Exit code 1 if anything changed, as from `diff`.
 */
export async function captureCommand(
  kind: string,
  options: CaptureCommandOptions,
  { stdout, stderr }: Streams,
): Promise<number> {
  const capture = await captureUnlessInterrupted(kind, options, stderr);
  if (!capture) return 130;
  const before = options.diff ? await newestCapture(capture.kind, capture.model) : undefined;
  const changes = before && compareCaptures(before, capture);
  const file = await storeCapture(capture);
  if (options.output !== undefined) await writeCapture(resolve(options.output), capture);

  if (options.json) {
    stdout.write(`${JSON.stringify(captureJson(capture, file, changes), null, 2)}\n`);
  } else {
    stdout.write(captureText(capture, file));
    if (options.diff) stdout.write(`\n${changesText(before, changes, terminalColors(stdout))}\n`);
  }
  return changes && !isSame(changes) ? 1 : 0;
}

async function captureUnlessInterrupted(
  kind: string,
  { model }: CaptureCommandOptions,
  stderr: NodeJS.WriteStream,
): Promise<Capture | undefined> {
  const agent = findDrivenAgent(kind);
  using interrupt = onInterrupt(stderr);
  const { signal } = interrupt;
  try {
    return await captureAgent(agent, { ...present({ model }), signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** The capture without its texts, which are in the file. */
function captureJson(capture: Capture, file: string, changes: CaptureChanges | undefined): unknown {
  return {
    kind: capture.kind,
    agent_version: capture.agentVersion,
    model: capture.model,
    wire: capture.wire,
    captured_at: capture.capturedAt,
    hash: capture.hash,
    prompt_characters: capture.systemPrompt.map((text) => text.length),
    tools: toolNames(capture),
    file,
    ...(changes && {
      same: isSame(changes),
      tools_added: changes.toolsAdded,
      tools_removed: changes.toolsRemoved,
      tools_reordered: changes.toolsReordered,
      diffs: changes.diffs,
    }),
  };
}

function captureText(capture: Capture, file: string): string {
  const { kind, agentVersion, model, wire, systemPrompt, hash } = capture;
  const tools = toolNames(capture);
  const characters = systemPrompt.reduce((sum, text) => sum + text.length, 0);
  return `${kind} ${agentVersion}, ${oneLine(model, 80)} (${wire})
  prompt  ${counted(systemPrompt.length, 'block')}, ${counted(characters, 'character')}
  tools   ${tools.length}: ${oneLine(tools.join(' '), 2000)}
  hash    ${hash}
  file    ${file}
`;
}

function changesText(
  before: Capture | undefined,
  changes: CaptureChanges | undefined,
  colors: Colors,
): string {
  if (!before || !changes) return 'There is no earlier capture of this agent and model to compare with.';
  if (isSame(changes)) return `Nothing changed since ${before.agentVersion}, ${before.capturedAt}.`;
  const { toolsAdded, toolsRemoved, toolsReordered, diffs } = changes;
  return [
    ...(toolsAdded.length > 0 ? [colors.green(`tools added: ${oneLine(toolsAdded.join(' '))}`)] : []),
    ...(toolsRemoved.length > 0 ? [colors.red(`tools removed: ${oneLine(toolsRemoved.join(' '))}`)] : []),
    ...(toolsReordered ? ['The tools come in another order.'] : []),
    ...diffs.map((diff) =>
      plainText(diff)
        .trimEnd()
        .split('\n')
        .map((line) => colored(line, colors))
        .join('\n'),
    ),
  ].join('\n');
}

function colored(line: string, colors: Colors): string {
  if (line.startsWith('+')) return colors.green(line);
  if (line.startsWith('-')) return colors.red(line);
  return line.startsWith('@@') ? colors.cyan(line) : line;
}
