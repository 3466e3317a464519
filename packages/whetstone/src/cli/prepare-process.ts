import { restartLean } from '../workspace/lean-memory.ts';
import { enterPrivateMountNamespace } from '../workspace/mount-namespace.ts';

/** A run waits for others most of the time: a small young generation keeps its memory flat, and every fork cheap. */
const RUN_OPTIONS = ['--max-semi-space-size=4'];

/**
 * Starts this process anew, with the same id, where mounts and little memory need that. It does not come back then: the
 * command begins again. Nothing may be open yet.
 */
export function prepareProcess(): void {
  const argv = [...RUN_OPTIONS, ...process.execArgv, ...process.argv.slice(1)];
  enterPrivateMountNamespace(argv);
  restartLean(argv);
}
