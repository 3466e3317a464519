import type { Readable } from 'node:stream';

/**
 * How the processes of a command are held together, so that all of them can be ended. Two ways: a PID namespace of
 * its own, or, where the system has none to give, a process group with a search for what left it.
 */
export interface Containment {
  readonly processes: 'pid-namespace' | 'descendants';
  /** What to spawn, in a session of its own, so that `argv` runs contained with this environment. */
  launch(argv: readonly string[], env: Readonly<Record<string, string>>): Launch;
}

export type Launch = {
  file: string;
  args: string[];
  env: Record<string, string>;
  /** Takes over the started process, named by its pid. */
  contain(pid: number): ContainedTree;
};

/** The processes of one running command. */
export type ContainedTree = {
  /** TERM to each of them. */
  terminate(): Promise<void>;
  /** KILL to each of them. */
  kill(): Promise<void>;
  /** After the started process has ended: ends whatever it left behind. When this resolves, nothing is left. */
  sweep(): Promise<void>;
};

/** How long processes have between TERM and KILL, ms. */
export const GRACE_MS = 2_000;

/**
 * The launchers write `started` to file descriptor 3 when the command is about to run, and `exited <code>` when it
 * has ended while others of its tree may still run. The command itself does not inherit the descriptor.
 */
export type LaunchReport = { started: boolean; exitCode: number | undefined };

/** Follows the launcher's report. `onChange` runs whenever it says something new. */
export function readLaunchReport(stream: Readable, onChange: (report: LaunchReport) => void): LaunchReport {
  const report: LaunchReport = { started: false, exitCode: undefined };
  let text = '';
  stream.setEncoding('latin1');
  stream.on('data', (chunk: string) => {
    text = (text + chunk).slice(0, 100);
    report.started = text.startsWith('started\n');
    const code = /^exited (\d+)$/m.exec(text)?.[1];
    if (code !== undefined) report.exitCode = Number(code);
    onChange(report);
  });
  stream.on('error', () => {});
  return report;
}
