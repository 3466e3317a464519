import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CaseRow } from '../record/row.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import { sampleManifest, sampleRow, sampleRows, sampleRun } from './__fixtures__/sample-run.ts';
import { summarize } from './summarize.ts';
import type { Arm, Comparison, Summary } from './summary.ts';

const taskNames = (count: number) => Array.from({ length: count }, (_, i) => `task-${i + 1}`);

describe('arms', () => {
  test('weigh tasks alike, and leave errors and missing cases out of the rate', () => {
    const manifest = sampleManifest({ tasks: ['one', 'two'], variants: ['baseline'], trials: 4 });
    const summary = summarize(
      manifest,
      sampleRows(manifest, ({ task_id, trial_index }) => {
        if (task_id === 'one') return trial_index === 1 ? 'failed' : 'passed';
        return ([undefined, 'error', 'passed', 'failed'] as const)[trial_index - 1];
      }),
    );
    expect(firstArm(summary)).toMatchObject({
      tasks: 2,
      trials: 6,
      passed: 4,
      failed: 2,
      error: 1,
      missing: 1,
    });
    expect(firstArm(summary).pass_rate).toBeCloseTo((3 / 4 + 1 / 2) / 2, 12);
    expect(firstArm(summary).bounds).toEqual([4 / 8, 6 / 8]);
    expect(summary.cases).toEqual({ planned: 8, finished: 7, passed: 4, failed: 2, error: 1, missing: 1 });
  });

  test('have no rate without a result, and no interval with one task', () => {
    const manifest = sampleManifest({ variants: ['baseline'], trials: 3 });
    const errors = summarize(
      manifest,
      sampleRows(manifest, () => 'error'),
    );
    expect(firstArm(errors)).toMatchObject({ pass_rate: null, pass_rate_interval: null, bounds: [0, 1] });
    const oneTask = summarize(
      manifest,
      sampleRows(manifest, () => 'passed'),
    );
    expect(firstArm(oneTask)).toMatchObject({ pass_rate: 1, pass_rate_interval: null });
  });

  test('never claim certainty from tasks that all came out alike', () => {
    const manifest = sampleManifest({ tasks: taskNames(3), variants: ['baseline'], trials: 3 });
    const { pass_rate, pass_rate_interval } = firstArm(
      summarize(
        manifest,
        sampleRows(manifest, () => 'passed'),
      ),
    );
    expect(pass_rate).toBe(1);
    expect(pass_rate_interval?.low).toBeCloseTo(0.4385, 4);
    expect(pass_rate_interval?.method).toBe('Wilson, tasks as the unit');
  });

  test('say what is known of tokens and cost, and what is not', () => {
    const manifest = sampleManifest({ tasks: taskNames(2), variants: ['baseline'] });
    const [first, second] = manifest.case_matrix;
    const rows = [
      sampleRow(first ?? expect.fail(), 'passed', { cost_usd: 0.5, total_tokens: 10 }),
      sampleRow(second ?? expect.fail(), 'failed', {
        cost_usd: null,
        total_tokens: null,
        usage_source: 'none',
      }),
    ];
    expect(firstArm(summarize(manifest, rows))).toMatchObject({
      usage_source: 'mixed',
      total_tokens: 10,
      tokens_unknown: 1,
      cost_usd: 0.5,
      cost_unknown: 1,
      cost_per_pass_usd: null,
    });
    const allKnown = rows.map((row) => ({ ...row, cost_usd: 0.5 }));
    expect(firstArm(summarize(manifest, allKnown)).cost_per_pass_usd).toBe(1);
  });

  test('give pass@k and pass^k only where every task has all its trials', () => {
    const manifest = sampleManifest({ tasks: taskNames(2), variants: ['baseline'], trials: 2 });
    const outcomes = (last: CaseRow['outcome']) =>
      sampleRows(manifest, ({ task_id, trial_index }) => {
        if (task_id === 'task-1') return 'passed';
        return trial_index === 1 ? 'passed' : last;
      });
    expect(firstArm(summarize(manifest, outcomes('failed'))).pass_at_k).toEqual({ k: 2, any: 1, all: 0.5 });
    expect(firstArm(summarize(manifest, outcomes('error'))).pass_at_k).toBeNull();
  });
});

describe('comparisons', () => {
  test('one clean flip per task: five tasks settle nothing, six do', () => {
    expect(allFlipped(5)).toMatchObject({ verdict: 'inconclusive', p_value: 0.0625, tasks_needed: 6 });
    expect(allFlipped(6)).toMatchObject({ verdict: 'better', p_value: 0.03125, tasks_needed: null });
    expect(allFlipped(6, true)).toMatchObject({ verdict: 'worse', difference: -1 });
  });

  test('the test has to bear out an interval that excludes 0', () => {
    // Five of twenty gained and none lost: t interval [+4, +46] pp, McNemar p = 0.0625.
    const comparison = compareFlips(20, (task) => (task < 5 ? 1 : 0));
    expect(comparison.interval?.low).toBeGreaterThan(0);
    expect(comparison.p_value).toBe(0.0625);
    expect(comparison.verdict).toBe('inconclusive');
    expect(comparison.sentence).toMatch(
      /^inconclusive: \+25 pp, .* the sign-flip test .* \(p = 0\.063\); .* about 25 tasks/,
    );
  });

  test('say what would settle a difference that they cannot', () => {
    const comparison = compareFlips(3, (task) => (task === 0 ? 1 : 0));
    expect(comparison.sentence).toBe(
      'inconclusive: +33 pp, 95 % interval −100 … +100 pp over 3 tasks; a difference of this size needs about 24 tasks (80 % power)',
    );
    expect(comparison.tasks_needed).toBe(24);
  });

  test('say what could have been seen where there is no difference', () => {
    const mixed = (tasks: number, flips: number) =>
      compareFlips(tasks, (task) => (task < flips ? 1 - 2 * (task % 2) : 0));
    expect(mixed(40, 6).sentence).toContain('differences below 17 pp would hardly show');
    expect(mixed(40, 6).minimum_detectable_difference).toBeCloseTo(
      (2.8016 * Math.sqrt(6 / 39)) / Math.sqrt(40),
      3,
    );
    expect(mixed(4, 4).sentence).toContain('so few tasks cannot show a difference of any size');
    expect(mixed(4, 4).minimum_detectable_difference).toBeNull();
    const same = compareFlips(4, () => 0);
    expect(same.sentence).toContain('every task has the same rate in both arms');
    expect(same.interval?.method).toContain('Newcombe');
  });

  test('over one task, or none, have no interval and no test', () => {
    const one = compareFlips(1, () => 1);
    expect(one).toMatchObject({ difference: 1, interval: null, p_value: null, verdict: 'inconclusive' });
    expect(one.sentence).toContain('one task gives no interval');
    const manifest = sampleManifest({ tasks: taskNames(3) });
    const none = summarize(
      manifest,
      sampleRows(manifest, () => 'error'),
    ).comparisons[0];
    expect(none).toMatchObject({
      tasks: 0,
      difference: null,
      sentence: 'inconclusive: no task has a result in both arms',
    });
  });

  test('take only the tasks that have a result in both arms', () => {
    const manifest = sampleManifest({ tasks: taskNames(3) });
    const rows = sampleRows(manifest, ({ task_id, variant }) =>
      task_id === 'task-2' && variant === 'baseline' ? 'error' : 'passed',
    );
    expect(summarize(manifest, rows).comparisons[0]).toMatchObject({ tasks: 2, difference: 0 });
  });

  test('name no winner that the cases without a result could undo', () => {
    const manifest = sampleManifest({ tasks: taskNames(14) });
    const rows = sampleRows(manifest, ({ task_id, variant }) => {
      if (Number(task_id.slice(5)) > 6) return variant === 'baseline' ? undefined : 'error';
      return variant === 'baseline' ? 'failed' : 'passed';
    });
    const comparison = summarize(manifest, rows).comparisons[0];
    expect(comparison?.p_value).toBe(0.03125);
    expect(comparison?.verdict).toBe('inconclusive');
    expect(comparison?.sentence).toContain(
      'the cases without a result could change its sign: with them it lies in −14 … +100 pp',
    );
  });

  test('are corrected for the number of variants of an agent', () => {
    const variants = ['baseline', 'first', 'second'];
    const outcome = ({ variant }: { variant: string }) => (variant === 'first' ? 'passed' : 'failed');
    const manifest = sampleManifest({ tasks: taskNames(6), variants });
    const corrected = summarize(manifest, sampleRows(manifest, outcome)).comparisons;
    expect(corrected[0]).toMatchObject({
      p_value: 0.03125,
      adjusted_p_value: 0.0625,
      verdict: 'inconclusive',
    });
    expect(corrected[0]?.sentence).toContain("after Holm's correction for 2 variants");
    const more = sampleManifest({ tasks: taskNames(7), variants });
    expect(summarize(more, sampleRows(more, outcome)).comparisons[0]?.verdict).toBe('better');
  });

  test('there are none in a run without its baseline, and a caveat reports it', () => {
    const manifest = sampleManifest({ variants: ['agents-md'] }, { baseline: 'baseline' });
    const summary = summarize(
      manifest,
      sampleRows(manifest, () => 'passed'),
    );
    expect(summary.comparisons).toEqual([]);
    expect(summary.caveats.join(' ')).toContain('nothing was compared');
  });
});

describe('the whole', () => {
  const outcome = fc.constantFrom('passed', 'failed', 'error', undefined);

  test('does not depend on the order of rows, adds up, and calls a winner only with all three proofs', () => {
    const shape = fc.record({
      tasks: fc.integer({ min: 1, max: 9 }),
      trials: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(
        shape,
        fc.array(outcome, { minLength: 1, maxLength: 20 }),
        ({ tasks, trials }, outcomes) => {
          const manifest = sampleManifest({
            tasks: taskNames(tasks),
            variants: ['baseline', 'x', 'y'],
            trials,
          });
          let next = 0;
          const rows = sampleRows(manifest, () => outcomes[next++ % outcomes.length]);
          const summary = summarize(manifest, rows);
          expect(summarize(manifest, rows.toReversed())).toEqual(summary);
          const { planned, finished, passed, failed, error, missing } = summary.cases;
          expect(passed + failed + error).toBe(finished);
          expect(finished + missing).toBe(planned);
          expect(summary.failures.reduce((sum, group) => sum + group.count, 0)).toBe(failed + error);
          for (const arm of summary.arms) {
            expect(arm.bounds[0]).toBeLessThanOrEqual(arm.bounds[1]);
            if (arm.pass_rate_interval) {
              expect(arm.pass_rate_interval.low).toBeLessThan(arm.pass_rate_interval.high);
            }
          }
          for (const one of summary.comparisons) {
            expect(one.sentence.startsWith(`${one.verdict}: `)).toBe(true);
            if (one.verdict === 'inconclusive') continue;
            const sign = one.verdict === 'better' ? 1 : -1;
            expect(one.tasks).toBeGreaterThanOrEqual(6);
            expect(one.adjusted_p_value).toBeLessThan(0.05);
            for (const end of [one.interval?.low, one.interval?.high, ...one.bounds]) {
              expect(Math.sign(end ?? 0)).toBe(sign);
            }
          }
        },
      ),
    );
  });

  test('two arms that are alike get a winner at most 5 times in 100', () => {
    const random = seededRandom('two arms that are alike');
    const manifest = sampleManifest({ tasks: taskNames(10), trials: 2 });
    const runs = 400;
    let winners = 0;
    for (let run = 0; run < runs; run++) {
      const rows = sampleRows(manifest, () => (random() < 0.5 ? 'passed' : 'failed'));
      if (summarize(manifest, rows).comparisons[0]?.verdict !== 'inconclusive') winners++;
    }
    expect(winners / runs).toBeLessThanOrEqual(0.05);
  });

  test('takes the last row of a case, and no row that is not in the plan', () => {
    const manifest = sampleManifest({ variants: ['baseline'] });
    const [planned] = manifest.case_matrix;
    if (planned === undefined) expect.fail();
    const rows = [
      sampleRow(planned, 'error'),
      sampleRow(planned, 'passed'),
      sampleRow({ ...planned, case_id: 'another' }, 'failed'),
    ];
    expect(summarize(manifest, rows).cases).toMatchObject({ planned: 1, finished: 1, passed: 1, failed: 0 });
  });

  test('lists what the run does not show', () => {
    const { manifest, rows } = sampleRun();
    const unverified = rows.map((row, i): CaseRow => (i === 0 ? { ...row, confidence: 'low' } : row));
    const summary = summarize(manifest, unverified);
    expect(summary.unverified).toBe(1);
    expect(summary.caveats).toEqual([
      'The model was a script: these numbers say nothing about a real model.',
      '7 tasks are few. More tasks narrow the intervals; more trials hardly do.',
      'The intervals hold only for tasks like these, in this repository, with these agents and this model.',
      '2 of 56 cases have no result (1 infrastructure error, 1 not finished). They are missing data, not failures; the bounds show how far they could move each rate.',
      'Nothing verified the work of 1 case: there, passed means only that the agent completed.',
      'Isolation level 0 (process) is only for trusted agents: an agent could reach more than its workspace.',
      'The network was open: an agent could look up anything, including solutions.',
      'Task fix-leak installs a package in its setup.',
    ]);
  });

  test('groups failures by class, the most frequent first, with their evidence', () => {
    const { manifest, rows } = sampleRun();
    const { failures } = summarize(manifest, rows);
    expect(failures.map((group) => [group.class, group.title])).toEqual([
      ['agent', "Agent's work failed"],
      ['provider-outage', 'Provider outage'],
    ]);
    expect(failures[1]?.cases).toEqual([
      {
        case_id: 'case-1-2-0-2',
        agent: 'codex',
        task: 'rename-module',
        variant: 'baseline',
        trial: 2,
        evidence: 'The model answered 503 three times.',
      },
    ]);
  });

  test('puts the verdicts, and no more, into the headline', () => {
    const { manifest, rows } = sampleRun();
    expect(summarize(manifest, rows).headline).toBe(
      'The model was a script. Against baseline: better: agents-md (loop); inconclusive: agents-md (codex).',
    );
    const single = sampleManifest({ variants: ['baseline'], trials: 3 }, { gateway: null });
    expect(summarize(single, []).headline).toBe('None of 3 cases has finished.');
    expect(
      summarize(
        single,
        sampleRows(single, () => 'error'),
      ).headline,
    ).toBe('None of 3 cases has a result: 3 infrastructure errors.');
    expect(
      summarize(
        single,
        sampleRows(single, () => 'passed'),
      ).headline,
    ).toBe('3 of 3 cases passed.');
  });
});

function firstArm(summary: Summary): Arm {
  return summary.arms[0] ?? expect.fail('no arm');
}

/** One trial a task; `flip` says what the variant changes: 1 a fail into a pass, −1 a pass into a fail, 0 nothing. */
function compareFlips(tasks: number, flip: (task: number) => number): Comparison {
  const manifest = sampleManifest({ tasks: taskNames(tasks) });
  const rows = sampleRows(manifest, ({ task_id, variant }) => {
    const change = flip(Number(task_id.slice(5)) - 1);
    const isVariant = variant !== 'baseline';
    return change === 0 || change > 0 === isVariant ? 'passed' : 'failed';
  });
  return summarize(manifest, rows).comparisons[0] ?? expect.fail('no comparison');
}

function allFlipped(tasks: number, isLoss = false): Comparison {
  return compareFlips(tasks, () => (isLoss ? -1 : 1));
}
