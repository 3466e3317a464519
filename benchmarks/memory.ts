import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Benchmark, MEBIBYTE } from './benchmark.ts';
import { CASES_A_TRIAL, makeMatrix, runMatrix, SMALLEST_AGENT } from './matrix.ts';
import { memoryOf } from './process-use.ts';

/** Whether the harness stays as small as it was, whatever an agent prints and however many cases there are. */
export const memory: Benchmark = async ({ size, say }) => {
  const printed = size === 'quick' ? 200_000_000 : 2_000_000_000;
  const cases = size === 'quick' ? 200 : 2_000;

  say('one case with an agent that prints nothing');
  const silent = await inMatrix(SMALLEST_AGENT, (work) => runMatrix(work, ONE_CASE));
  say(`one case with an agent that prints ${printed} bytes`);
  const loud = await inMatrix(`yes | head -c ${printed}`, (work) => runMatrix(work, ONE_CASE));
  say(`${cases} cases`);
  const many = await inMatrix(SMALLEST_AGENT, (work) => runMany(work, cases));

  return {
    method:
      'Resident memory of the harness process: its peak (VmHWM) read at its end, and VmRSS when the tenth, the half and the whole of the cases have finished.',
    tables: [
      {
        caption: 'What an agent prints (one case)',
        columns: [
          { name: 'peak', unit: 'MiB', digits: 0 },
          { name: 'wall', unit: 's', digits: 2 },
        ],
        rows: [
          { subject: 'nothing', values: [silent.peakBytes / MEBIBYTE, silent.wallSeconds] },
          {
            subject: `${(printed / 1e9).toFixed(1)} GB (\`yes | head -c ${printed}\`)`,
            values: [loud.peakBytes / MEBIBYTE, loud.wallSeconds],
          },
        ],
      },
      {
        caption: `${cases} cases, \`--jobs 2\``,
        columns: [
          ...many.samples.map(({ after }) => ({ name: `after ${after}`, unit: 'MiB', digits: 0 })),
          { name: 'peak', unit: 'MiB', digits: 0 },
        ],
        rows: [
          {
            subject: 'resident',
            values: [...many.samples.map(({ bytes }) => bytes / MEBIBYTE), many.peakBytes / MEBIBYTE],
          },
        ],
      },
    ],
    aims: [],
    notes: [
      'V8 lets its heap grow before it collects, so a difference of some tens of MiB between two moments is not a leak; growth that goes on with the number of cases is one.',
    ],
  };
};

const ONE_CASE = ['--trials', '1', '--jobs', '1', '--task-id', 'task-1', '--variant', 'plain'];

async function inMatrix<T>(agentScript: string, measure: (work: string) => Promise<T>): Promise<T> {
  const work = mkdtempSync(join(tmpdir(), 'bench-memory-'));
  try {
    await makeMatrix(work, agentScript);
    return await measure(work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Looks at the process whenever it says that one of the awaited cases has finished. */
async function runMany(work: string, cases: number) {
  const awaited = [cases / 10, cases / 2, cases];
  const samples: { after: number; bytes: number }[] = [];
  const trials = String(cases / CASES_A_TRIAL);
  const use = await runMatrix(work, ['--trials', trials, '--jobs', '2'], (line, pid) => {
    const finished = Number(/^\[(\d+)\//.exec(line)?.[1]);
    if (awaited.includes(finished)) samples.push({ after: finished, bytes: memoryOf(pid).now });
  });
  return { ...use, samples };
}
