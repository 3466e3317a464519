import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Benchmark, median, tableOf } from './benchmark.ts';
import { installPacked } from './install-packed.ts';
import { WHETSTONE } from './matrix.ts';
import { cpuSecondsOfChildren } from './process-use.ts';
import { temporaryFolder } from './temporary-folder.ts';

const AIM = 2;

/** The time of `--help` and `--version`, from the clone and from the installed package. */
export const coldStart: Benchmark = async ({ size, say }) => {
  const rounds = size === 'quick' ? 5 : 20;
  using folder = temporaryFolder();
  const work = folder.path;
  say('packing and installing the packages');
  const installed = join(installPacked(work), 'whetstone/bin/whetstone.js');
  const programs = [
    { subject: '`node -e 0`', args: ['-e', '0'] },
    { subject: '`whetstone --help` from the clone', args: [WHETSTONE, '--help'] },
    { subject: '`whetstone --version` from the clone', args: [WHETSTONE, '--version'] },
    { subject: '`whetstone --help` installed', args: [installed, '--help'] },
    { subject: '`whetstone --version` installed', args: [installed, '--version'] },
  ].map((program) => ({ ...program, wall: [] as number[], cpu: [] as number[] }));

  say(`${rounds} rounds of ${programs.length} programs`);
  for (const { args } of programs) await timeNode(args, work);
  for (let round = 0; round < rounds; round++) {
    for (const program of programs) {
      const { wallMs, cpuMs } = await timeNode(program.args, work);
      program.wall.push(wallMs);
      program.cpu.push(cpuMs);
    }
  }

  const [bare] = programs.map(({ wall }) => median(wall));
  if (bare === undefined) throw new Error('nothing was measured');
  return {
    method: `Median of ${rounds} starts each, interleaved, after one that fills the caches (V8's compile cache included).`,
    tables: [
      tableOf(
        'Per start',
        programs,
        [
          ['wall', 'ms', 1, ({ wall }) => median(wall)],
          ['CPU, mean', 'ms', 0, ({ cpu }) => mean(cpu)],
          ['wall against `node -e 0`', '×', 2, ({ wall }) => median(wall) / bare],
        ],
        [
          { subject: 'niceeval `--help`', values: [undefined, 2_300] },
          { subject: 'context-eval', values: [undefined, 750] },
        ],
      ),
    ],
    aims: programs.slice(1).map(({ subject, wall }) => ({
      what: `${subject} against \`node -e 0\``,
      measured: median(wall) / bare,
      below: AIM,
      unit: '×',
      digits: 2,
    })),
    notes: ['The kernel counts CPU in ticks of 10 ms, so the mean is precise to a few milliseconds.'],
  };
};

async function timeNode(args: readonly string[], cwd: string): Promise<{ wallMs: number; cpuMs: number }> {
  const cpuBefore = cpuSecondsOfChildren();
  const began = performance.now();
  const child = spawn(process.execPath, args, { cwd, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  const wallMs = performance.now() - began;
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}`);
  return { wallMs, cpuMs: (cpuSecondsOfChildren() - cpuBefore) * 1000 };
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}
