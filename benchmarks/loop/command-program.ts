/**
 * `node command-program.ts <rounds>`: starts `true` in turns by itself, by a shell that enters a cgroup first, and by the
 * environment of the loop. Prints `CommandTimes` as JSON.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalExecutionEnvironment } from '@whetstone/loop';
import { cgroupFolder, commandInCgroup, removeCgroup } from '@whetstone/sandbox/process';

/** Milliseconds of each round. `inCgroup` is absent where this user may not make cgroups. */
export type CommandTimes = { spawn: number[]; inCgroup?: number[]; exec: number[] };

const [rounds = 0] = process.argv.slice(2).map(Number);
console.log(JSON.stringify(await measure()));

async function measure(): Promise<CommandTimes> {
  await using environment = new LocalExecutionEnvironment({ workingDirectory: tmpdir() });
  const folder = cgroupFolder();
  const exec = () => environment.exec(['true']);
  await exec();
  const times: CommandTimes = { spawn: [], exec: [], ...(folder !== undefined && { inCgroup: [] }) };
  for (let round = 0; round < rounds; round += 1) {
    times.spawn.push(await time(() => start(['true'])));
    if (folder !== undefined)
      times.inCgroup?.push(await time(() => startInCgroup(join(folder, `r${round}`))));
    times.exec.push(await time(exec));
  }
  if (folder !== undefined) removeCgroup(folder);
  return times;
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

async function start([file, ...args]: readonly [string, ...string[]]): Promise<void> {
  await once(spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true }), 'close');
}

async function startInCgroup(group: string): Promise<void> {
  const argv = commandInCgroup(group, ['true'], { cwd: tmpdir(), path: process.env.PATH });
  if (!argv) throw new Error('the cgroup could not be made');
  await start(argv);
  removeCgroup(group);
}
