import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { newMark } from './host-watcher.ts';
import { findProcess, isAlive } from './process-list.ts';
import { endTree, treeOf } from './process-tree.ts';

const NAME = 'WHETSTONE_TEST_TREE';
const started = new Set<number>();

/** One that has ended and was not yet reaped does not run. */
const isRunning = (pid: number): boolean => findProcess(pid) !== undefined;

/** Starts a shell, and resolves with its id, and with what it prints first, one process id per word. */
async function start(
  script: string,
  mark: string,
): Promise<{ leader: number; pids: number[]; output: () => string }> {
  const child = spawn('/bin/sh', ['-c', script], {
    env: { ...process.env, [NAME]: mark },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  await once(child.stdout, 'data');
  const pids = output.trim().split(/\s+/).map(Number);
  for (const pid of pids) started.add(pid);
  return { leader: child.pid ?? -1, pids, output: () => output };
}

afterEach(() => {
  for (const pid of started) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  started.clear();
});

describe.runIf(process.platform === 'linux')('the end of a process tree', { tags: 'linux' }, () => {
  test('reaches a process that is deaf to TERM and one that left the session', async () => {
    const mark = newMark();
    const deaf = "trap '' TERM; sleep 300 >/dev/null & echo $!";
    const { leader, pids } = await start(
      `left=$(setsid sh -c 'sleep 300 >/dev/null & echo $!'); echo $left $(${deaf}); wait`,
      mark,
    );
    expect(pids.map(isRunning)).toEqual([true, true]);
    await endTree(treeOf(leader, `${NAME}=${mark}`));
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  test('is for its own mark only, and not for a longer one', async () => {
    const mark = newMark();
    const own = await start('echo $$; exec sleep 300', mark);
    const other = await start('echo $$; exec sleep 300', `${mark}0`);
    await endTree({ mark: `${NAME}=${mark}` });
    expect([...own.pids, ...other.pids].map(isRunning)).toEqual([false, true]);
  });

  test('asks each process once', async () => {
    const mark = newMark();
    const { leader, output } = await start(
      `trap 'echo asked' TERM; echo $$; for i in 1 2 3; do sleep 0.1; done`,
      mark,
    );
    await endTree(treeOf(leader, `${NAME}=${mark}`));
    expect(output()).toBe(`${leader}\nasked\n`);
  });
});
