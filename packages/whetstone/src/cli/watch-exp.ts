import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readModule } from '../config/hash-module.ts';
import { configFileOf } from '../config/load-project.ts';
import { findEvalFiles, findExperimentFiles } from '../eval/find-evals.ts';
import { onEndSignal } from './interrupt.ts';
import { findRoot } from './open-project.ts';
import type { Streams } from './streams.ts';
import { foldersBelow, watchFolders } from './watch-folders.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/whetstone.js', import.meta.url));
const INTERRUPTED = 130;

/**
 * Runs `exp` with the options of this process, and again after each change of a file that it may depend on, until Ctrl-C.
 * The identity of each case decides what runs. Resolves with 130.
 */
export async function watchExperiments({ stderr }: Streams): Promise<number> {
  const root = findRoot(process.cwd());
  using changes = await watchFolders(() => foldersOf(root));
  let running: ChildProcess | undefined;
  let isEnding = false;
  using _ = onEndSignal(() => {
    isEnding = true;
    // The run stops its agents and keeps what has finished. It also does that when this process is killed.
    running?.kill('SIGINT');
    changes[Symbol.dispose]();
  });
  for (let turn = 'first'; ; ) {
    running = start(turn);
    const [exitCode] = await once(running, 'close');
    running = undefined;
    if (isEnding) return INTERRUPTED;
    if (exitCode === 0 || exitCode === 1) turn = 'again';
    stderr.write(`\nWaiting for a change in ${root}; Ctrl-C ends.\n`);
    await changes.changed();
    if (isEnding) return INTERRUPTED;
  }
}

/** Starts a run that a terminal's Ctrl-C does not reach, so that it is asked to stop only once. */
function start(turn: string): ChildProcess {
  const args = process.argv.slice(2).filter((argument) => argument !== '--watch');
  return spawn(process.execPath, [PROGRAM, ...args, '--watched', turn], {
    detached: true,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
}

/** The folders of the project, and those outside of it with files that its evals, experiments or configuration import. */
async function foldersOf(root: string): Promise<string[]> {
  const config = configFileOf(root);
  const files = [
    ...[...findEvalFiles(root), ...findExperimentFiles(root)].map(({ file }) => file),
    ...(config === undefined ? [] : [config]),
  ];
  // A file that was just removed imports nothing.
  const read = files.map((file) => readModule(file).catch(() => new Map<string, string>()));
  const imported = (await Promise.all(read)).flatMap((module) => [...module.keys()].map(dirname));
  return [...new Set([...foldersBelow(root), ...imported])];
}
