import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

/** The machine and the time of a measurement, in one line. Call it first, so that the load is that of other programs. */
export function describeMachine(): string {
  const gibibytes = (totalmem() / 1024 ** 3).toFixed(0);
  const git = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim().replace(' version', '');
  const [load = 0] = loadavg();
  return [
    `${availableParallelism()} × ${cpus()[0]?.model.trim() || `a ${process.arch} processor without a name`}`,
    `${gibibytes} GiB`,
    `Linux ${release()}`,
    `Node ${process.version}`,
    git,
    `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    `load average at the start ${load.toFixed(2)}`,
  ].join(' · ');
}
