import { type Benchmark, FLAT, flatAim, MEBIBYTE, tableOf } from './benchmark.ts';
import { CASES_A_TRIAL, makeMatrix, ONE_CASE, runMatrix, SMALLEST_AGENT } from './matrix.ts';
import type { Measured } from './measured-process.ts';
import { memoryOf } from './process-use.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Whether the memory of the harness stays flat with much output of an agent, and with many cases. */
export const memory: Benchmark = async ({ size, say }) => {
  const most = size === 'quick' ? 200_000_000 : 2_000_000_000;
  const cases = size === 'quick' ? 200 : 2_000;

  const printing: { subject: string; use: Measured }[] = [];
  for (const printed of [0, most / 10, most]) {
    say(`one case with an agent that prints ${printed} bytes`);
    const script = printed === 0 ? SMALLEST_AGENT : `yes | head -c ${printed}`;
    const subject = printed === 0 ? 'nothing' : `${printed / 1e9} GB`;
    printing.push({ subject, use: await inMatrix(script, (work) => runMatrix(work, ONE_CASE)) });
  }
  say(`${cases} cases`);
  const many = await inMatrix(SMALLEST_AGENT, (work) => runMany(work, cases));

  return {
    method:
      'Resident memory of the harness process: its peak (VmHWM) read at its end, and VmRSS when the tenth, the half and the whole of the cases have finished. An agent prints with `yes | head -c BYTES`.',
    tables: [
      tableOf('What an agent prints (one case)', printing, [
        ['peak', 'MiB', 0, ({ use }) => use.peakBytes / MEBIBYTE],
        ['wall', 's', 2, ({ use }) => use.wallSeconds],
      ]),
      tableOf(
        `${cases} cases, \`--jobs 2\``,
        [{ subject: 'resident' }],
        [
          ...many.samples.map(({ after, bytes }) => [`after ${after}`, bytes] as const),
          ['peak', many.peakBytes] as const,
        ].map(([name, bytes]) => [name, 'MiB', 0, () => bytes / MEBIBYTE] as const),
      ),
    ],
    aims: [
      flatAim(
        `peak with ${most / 1e9} GB of output against a tenth of it`,
        printing.slice(1).map(({ use }) => use.peakBytes),
      ),
      flatAim(
        `resident after ${cases} cases against after a tenth of them`,
        many.samples.map(({ bytes }) => bytes),
      ),
    ],
    notes: [`The aim is flat memory; up to ${FLAT} × is allowed, because V8 collects garbage late.`],
  };
};

async function inMatrix<T>(agentScript: string, measure: (work: string) => Promise<T>): Promise<T> {
  using folder = temporaryFolder();
  const work = folder.path;
  await makeMatrix(work, agentScript);
  return await measure(work);
}

/** Reads the memory of the process when it reports that one of the awaited cases has finished. */
async function runMany(work: string, cases: number) {
  const awaited = [cases / 10, cases / 2, cases];
  const samples: { after: number; bytes: number }[] = [];
  const trials = String(cases / CASES_A_TRIAL);
  const use = await runMatrix(work, ['--trials', trials, '--jobs', '2'], {
    onLine: (line, findPid) => {
      const finished = Number(/^\[(\d+)\//.exec(line)?.[1]);
      if (awaited.includes(finished)) samples.push({ after: finished, bytes: memoryOf(findPid()).now });
    },
  });
  return { ...use, samples };
}
