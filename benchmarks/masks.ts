import { join } from 'node:path';
import { type Benchmark, tableOf } from './benchmark.ts';
import type { MaskMeasurements } from './measure-masks.ts';
import { runNode } from './run-node.ts';

const PROGRAM = join(import.meta.dirname, 'measure-masks.ts');

/** What a verdict costs that can be believed: masked tests, hashes of what was stored, and chained lines. */
export const masks: Benchmark = async ({ size, say }) => {
  const rounds = size === 'quick' ? 1 : 9;
  say(`grading a right solution, ${rounds} times in each way`);
  const { figures, records } = await runNode<MaskMeasurements>(PROGRAM, [rounds], { limitMinutes: 30 });
  return {
    method:
      'A task with 100 hidden tests in four files, all of which have a twin. The right solution is graded in the sandbox `process`: once as the runner reports it, and once masked, in one round, in turns. A grading includes its workspaces and sandboxes.',
    tables: [
      tableOf('Per grading', figures, [
        ['by the report', 's', 2, ({ reportSeconds }) => reportSeconds],
        ['masked', 's', 2, ({ maskedSeconds }) => maskedSeconds],
        ['ratio', '×', 2, ({ maskedSeconds, reportSeconds }) => maskedSeconds / reportSeconds],
        ['calibration, once per task', 's', 1, ({ calibrationSeconds }) => calibrationSeconds],
      ]),
      tableOf(
        'Hashes and chains',
        [
          {
            subject: `sha256 of ${records.evidenceMib} MiB of evidence, per case`,
            milliseconds: records.evidenceMs,
          },
          { subject: 'a look at 200 hidden files, per case', milliseconds: records.hiddenMs },
          { subject: 'a line of 4 KiB without a chain', milliseconds: records.plainUs / 1000 },
          { subject: 'a line of 4 KiB, chained', milliseconds: records.chainedUs / 1000 },
        ],
        [['time', 'ms', 3, ({ milliseconds }) => milliseconds]],
      ),
    ],
    aims: figures.map(({ subject, maskedSeconds, reportSeconds }) => ({
      what: `masked grading, ${subject}, times one by the report`,
      ...{ measured: maskedSeconds / reportSeconds, below: 2.5, unit: '×', digits: 2 },
    })),
    notes: [
      'Half of the masked tests fail in each run. Vitest reads the file of every frame of the stack of every failed test, its own files too, to look for a source map: that is a fifth of its CPU time here.',
      'Tests that take longer bring the ratio nearer to 2. Calibration is kept in the cache folder, for later runs, checks and audits of the same task.',
    ],
  };
};
