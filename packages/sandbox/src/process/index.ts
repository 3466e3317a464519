/**
 * The public surface of `@whetstone/sandbox/process`: process trees that end, and output that is bounded. It has no
 * dependencies.
 *
 * A program that starts commands gives each of them a mark (`newMark`) in its environment, starts it as the leader of a
 * process group, and ends it with `endTree`. `watch` and `holdGroup` end it with the program itself.
 */
export { BoundedOutput, KEPT_BYTES } from './bounded-output.ts';
export { cgroupFolder, commandInCgroup, removeCgroup } from './cgroup.ts';
export { drainOutput } from './drain-output.ts';
export { holdGroup, newMark, releaseGroup, unwatch, watch } from './host-watcher.ts';
export {
  launcherMounts,
  type Program,
  rememberFolders,
  type StartedProgram,
  startProgram,
} from './launcher.ts';
export type { Mounts, OpenDisk } from './launcher-interface.ts';
export { OutputFile, type OutputFileOptions } from './output-file.ts';
export { type ConnectedProcess, PolledProcess, UnreadOutput } from './polled-process.ts';
export { isAlive, signalProcess } from './process-list.ts';
export { endTree, type ProcessTree, treeOf } from './process-tree.ts';
export { runProgram } from './run-program.ts';
