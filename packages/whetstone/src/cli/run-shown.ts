import { renderTerminal } from '../report/terminal.ts';
import { type RunOptions, type RunResult, run } from '../run/run.ts';
import { onInterrupt } from './interrupt.ts';
import { createProgress } from './progress.ts';
import type { Streams } from './streams.ts';
import { terminalColors, terminalWidth } from './terminal-features.ts';

/** Runs, and shows on stderr how far it is. Ctrl-C ends it. */
export async function runShown(
  options: Omit<RunOptions, 'signal' | 'onEvent'>,
  { stderr }: Pick<Streams, 'stderr'>,
): Promise<RunResult> {
  const progress = await createProgress(stderr);
  using interrupt = onInterrupt(stderr);
  const { signal } = interrupt;
  return await run({ ...options, signal, onEvent: progress.show }).finally(progress.stop);
}

export function printResult({ summary, ordered, directory }: RunResult, stdout: Streams['stdout']): void {
  const view = { colors: terminalColors(stdout), width: terminalWidth(stdout), directory };
  stdout.write(`${renderTerminal(summary, ordered, view)}\n\n${directory}\n`);
}
