import { holdGroup, newMark, releaseGroup, watch } from '../process/host-watcher.ts';
import { endTree, signalTree, terminateUnmarked, treeOf } from '../process/process-tree.ts';
import type { ContainedTree, Containment } from './containment.ts';

const LAUNCHER = 'echo started >&3; exec "$@" 3>&-';

/** A name that terminals set too: it does not reveal to a program where it runs. */
const MARK_NAME = 'TERM_SESSION_ID';

/**
 * A process group, and a search for what left it: by session, by descent, and (on Linux) by a mark in the environment
 * that children inherit. A process is not found if it has left its session *and* its parent *and* cleared its
 * environment; that is what `descendants` in the manifest says.
 * `wraps`: what is launched are programs around a command that gets another environment. They end with the command, so only
 * the command is asked to end.
 */
export function createProcessGroupContainment({ wraps = false } = {}): Containment {
  const owner = newMark();
  return {
    processes: 'descendants',
    canHide: false,
    launch(argv, env) {
      // Before the start: this process may be killed before it knows the group.
      watch(owner);
      const mark = newMark();
      return {
        file: '/bin/sh',
        args: ['-c', LAUNCHER, 'sh', ...argv],
        env: { ...env, [MARK_NAME]: mark },
        contain: (pid) => containGroup(pid, { mark: `${MARK_NAME}=${mark}`, wraps }),
      };
    },
  };
}

function containGroup(leader: number, { mark, wraps }: { mark: string; wraps: boolean }): ContainedTree {
  const tree = treeOf(leader, mark);
  holdGroup(leader);
  return {
    async terminate() {
      if (wraps) await terminateUnmarked(tree);
      else await signalTree(tree, 'SIGTERM');
    },
    async kill() {
      await signalTree(tree, 'SIGKILL');
    },
    async sweep() {
      await endTree(tree);
      releaseGroup(leader);
    },
  };
}
