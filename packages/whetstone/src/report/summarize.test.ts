import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CaseRow } from '../record/row.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import { sampleManifest, sampleRow, sampleRows, sampleRun } from './__fixtures__/sample-run.ts';
import { pointsRange } from './format.ts';
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
    expect(summary.cases).toEqual({
      ...{ planned: 8, finished: 7, passed: 4, failed: 2, error: 1, missing: 1, skipped: 0 },
      not_run: 0,
    });
  });

  test('leave out what skipped itself, as if it had not been planned', () => {
    const manifest = sampleManifest({ tasks: ['one', 'two'], variants: ['baseline'], trials: 2 });
    const rows = sampleRows(manifest, ({ task_id, trial_index }) =>
      task_id === 'one' ? 'skipped' : trial_index === 1 ? 'failed' : 'passed',
    );
    const summary = summarize(manifest, rows);
    expect(firstArm(summary)).toMatchObject({
      trials: 2,
      pass_rate: 0.5,
      bounds: [1 / 2, 1 / 2],
      skipped: 2,
    });
    expect(summary.failures).toMatchObject([{ count: 1 }]);
    expect(summary.caveats.join()).toContain('2 cases skipped themselves and are in no rate (one)');
  });

  test('that only have skipped cases have no number, and neither has their comparison', () => {
    const manifest = sampleManifest({ tasks: ['one', 'two'], trials: 2 });
    const rows = sampleRows(manifest, ({ variant }) => (variant === 'baseline' ? 'skipped' : 'passed'));
    const { arms, comparisons } = summarize(manifest, rows);
    expect(arms[0]).toMatchObject({ pass_rate: null, bounds: null, pass_at_k: null, skipped: 4 });
    expect(comparisons[0]).toMatchObject({ difference: null, bounds: null, verdict: 'inconclusive' });
    const skipped = rows.filter(({ variant }) => variant === 'baseline');
    const only = {
      ...manifest,
      case_matrix: manifest.case_matrix.filter(({ variant }) => variant === 'baseline'),
    };
    expect(summarize(only, skipped).headline).toContain(
      'None of 4 cases has a result: all skipped themselves.',
    );
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
    const manifest = sampleManifest({ tasks: taskNames(2), variants: ['baseline'], trials: 3 });
    const outcomes = (last: CaseRow['outcome']) =>
      sampleRows(manifest, ({ task_id, trial_index }) => {
        if (task_id === 'task-1') return 'passed';
        return trial_index < 3 ? 'passed' : last;
      });
    expect(firstArm(summarize(manifest, outcomes('failed'))).pass_at_k).toMatchObject({ k: 2, any: 1 });
    expect(firstArm(summarize(manifest, outcomes('failed'))).pass_at_k?.all).toBeCloseTo((1 + 1 / 3) / 2, 12);
    expect(firstArm(summarize(manifest, outcomes('error'))).pass_at_k).toBeNull();
    // With two trials, nothing is left of the chance of two trials to estimate.
    const few = sampleManifest({ tasks: taskNames(2), variants: ['baseline'], trials: 2 });
    expect(
      firstArm(
        summarize(
          few,
          sampleRows(few, () => 'passed'),
        ),
      ).pass_at_k,
    ).toBeNull();
  });
});

describe('comparisons', () => {
  test('three tasks settle nothing for tasks like these, whatever they show; four clean flips do', () => {
    expect(allFlipped(3)).toMatchObject({ verdict: 'inconclusive', these_tasks_p_value: null });
    expect(allFlipped(3).sentence).toBe(
      'inconclusive: +100 pp on 3 tasks; for tasks like these, fewer than 4 tasks can settle nothing',
    );
    expect(allFlipped(4)).toMatchObject({ verdict: 'better', difference: 1 });
    expect(allFlipped(4, true)).toMatchObject({ verdict: 'worse', difference: -1 });
  });

  test('say which difference could have been seen, and what 10 points need', () => {
    const comparison = compareFlips(12, (task) => (task < 2 ? 1 : 0));
    expect(comparison.sentence).toMatch(
      /^inconclusive: \+17 pp for tasks like these, 95 % interval −\d+ … \+\d+ pp over 12 tasks; 12 tasks can show differences of \d+ pp or more \(80 % power\); 10 pp needs about \d+ tasks like these$/,
    );
    expect(comparison.tasks_needed).toBeGreaterThan(12);
    expect(comparison.minimum_detectable_difference).toBeGreaterThan(1 / 6);
  });

  test('need the same number of tasks for 10 points whatever difference was seen', () => {
    const gained = compareFlips(20, (task) => (task < 5 ? 1 : 0));
    const lost = compareFlips(20, (task) => (task < 5 ? -1 : 0));
    expect(lost.tasks_needed).toBe(gained.tasks_needed);
  });

  test('of tasks that are all alike claim no certainty', () => {
    const same = compareFlips(40, () => 0);
    expect(same.verdict).toBe('inconclusive');
    expect(same.interval?.high).toBeGreaterThan(0.03);
    expect(same.interval?.low).toBeLessThan(-0.03);
  });

  test('say what these tasks show, where tasks like these cannot be judged', () => {
    const manifest = sampleManifest({ tasks: taskNames(3), trials: 5 });
    const rows = sampleRows(manifest, ({ variant }) => (variant === 'baseline' ? 'failed' : 'passed'));
    expect(summarize(manifest, rows).comparisons[0]).toMatchObject({
      verdict: 'inconclusive',
      sentence:
        'inconclusive: +100 pp on 3 tasks; for tasks like these, fewer than 4 tasks can settle nothing; on these tasks only, the arms do differ (exact permutation, p < 0.001)',
    });
  });

  test('over one task, or none, have no interval and no test', () => {
    const one = compareFlips(1, () => 1);
    expect(one).toMatchObject({ difference: 1, interval: null, p_value: null, verdict: 'inconclusive' });
    expect(one.sentence).toContain('+100 pp on 1 task');
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
    expect(summarize(manifest, rows).comparisons[0]).toMatchObject({
      tasks: 2,
      tasks_without_result: ['task-2'],
      difference: 0,
    });
  });

  test('say what they would be at both bounds of the missing cases', () => {
    const compared = (tasks: number) => {
      const manifest = sampleManifest({ tasks: taskNames(tasks) });
      const rows = sampleRows(manifest, ({ task_id, variant }) => {
        if (variant === 'baseline') return task_id === 'task-1' ? 'passed' : 'failed';
        return task_id === `task-${tasks}` ? 'error' : 'passed';
      });
      return summarize(manifest, rows).comparisons[0];
    };
    const of = compared(8);
    const { against, in_favor: inFavor } = of?.interval_bounds ?? {};
    const range = (one: { low: number; high: number } | null | undefined) =>
      pointsRange(one?.low ?? Number.NaN, one?.high ?? Number.NaN);
    expect(of?.sentence).toContain(
      `; with all cases without a result against it ${range(against)}, with all of them for it ${range(inFavor)}; 1 task without a result in one of the arms: task-8`,
    );
    expect(compared(3)?.sentence).toBe(
      'inconclusive: +50 pp on 2 tasks; for tasks like these, fewer than 4 tasks can settle nothing; with all cases without a result against it +33 pp, with all of them for it +67 pp; 1 task without a result in one of the arms: task-3',
    );
  });

  test('say in words that the missing cases leave everything possible', () => {
    const manifest = sampleManifest({ tasks: taskNames(8) });
    const rows = sampleRows(manifest, ({ task_id, variant }) => {
      if (Number(task_id.slice(5)) > 4) return 'error';
      return (variant === 'baseline') === (task_id === 'task-1') ? 'passed' : 'failed';
    });
    const sentence = summarize(manifest, rows).comparisons[0]?.sentence;
    expect(sentence).toContain('; the cases without a result leave every difference possible; 4 tasks');
    expect(sentence).not.toContain('−100 … +100');
  });

  test('name no winner that the cases without a result could undo', () => {
    const manifest = sampleManifest({ tasks: taskNames(14) });
    const rows = sampleRows(manifest, ({ task_id, variant }) => {
      if (Number(task_id.slice(5)) > 6) return variant === 'baseline' ? undefined : 'error';
      return variant === 'baseline' ? 'failed' : 'passed';
    });
    const comparison = summarize(manifest, rows).comparisons[0];
    expect(comparison?.p_value).toBeLessThan(0.01);
    expect(comparison?.verdict).toBe('inconclusive');
    expect(comparison?.sentence).toMatch(
      /; but the cases without a result could change that: with them the interval reaches from −\d+ … \+100 pp; 8 tasks without a result in one of the arms: task-7, task-8, task-9, task-10, task-11 and others$/,
    );
  });

  test('are corrected for all comparisons of the report, also those of other agents', () => {
    const outcome = ({ variant, agent_name }: { variant: string; agent_name: string }) =>
      variant !== 'baseline' && agent_name === 'agent-1' ? 'passed' : 'failed';
    const comparisonsOf = (agents: string[]) => {
      const manifest = sampleManifest({ tasks: taskNames(5), agents });
      return summarize(manifest, sampleRows(manifest, outcome)).comparisons;
    };
    const [alone] = comparisonsOf(['agent-1']);
    const [first, ...others] = comparisonsOf(['agent-1', 'agent-2', 'agent-3']);
    expect(first?.p_value).toBe(alone?.p_value);
    // The three agents are also compared together.
    expect(first?.adjusted_p_value).toBeCloseTo(4 * (alone?.adjusted_p_value ?? 0), 12);
    expect(others.map((one) => one.adjusted_p_value).slice(0, 2)).toEqual([1, 1]);
    expect(first?.sentence).toContain("after Holm's correction for 4 comparisons");
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
            const [lowest, highest] = arm.bounds ?? expect.fail();
            expect(lowest).toBeLessThanOrEqual(highest);
            if (arm.pass_rate_interval) {
              expect(arm.pass_rate_interval.low).toBeLessThan(arm.pass_rate_interval.high);
            }
          }
          for (const one of summary.comparisons) {
            expect(one.sentence.startsWith(`${one.verdict}: `)).toBe(true);
            if (one.verdict === 'inconclusive') continue;
            const sign = one.verdict === 'better' ? 1 : -1;
            expect(one.tasks).toBeGreaterThanOrEqual(4);
            expect(one.adjusted_p_value).toBeLessThan(0.05);
            for (const end of [one.interval?.low, one.interval?.high, ...(one.bounds ?? [])]) {
              expect(Math.sign(end ?? 0)).toBe(sign);
            }
          }
        },
      ),
    );
  });

  test('two arms that are alike rarely get a winner', () => {
    const random = seededRandom('two arms that are alike');
    const manifest = sampleManifest({ tasks: taskNames(10), trials: 2 });
    const runs = 400;
    let winners = 0;
    for (let run = 0; run < runs; run++) {
      const rows = sampleRows(manifest, () => (random() < 0.5 ? 'passed' : 'failed'));
      if (summarize(manifest, rows).comparisons[0]?.verdict !== 'inconclusive') winners++;
    }
    // 5.5 %, and two standard errors of so few runs. `npm run bench -- truth` has many.
    expect(winners / runs).toBeLessThanOrEqual(0.055 + 2 * Math.sqrt((0.05 * 0.95) / runs));
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
      expect.stringContaining('only an e-value of 60 or more shows a difference'),
      'The model was a script: these numbers say nothing about a real model.',
      '7 tasks are few. More tasks narrow the intervals; more trials hardly do.',
      'The intervals hold only for tasks like these, in this repository, with these agents and this model.',
      '2 of 56 cases have no result (1 error, 1 not finished). They are missing data, not failures; the bounds show how far they could move each rate.',
      'Nothing verified the work of 1 case: there, passed means only that the agent completed.',
      'Isolation level 0 (process) is only for trusted agents: an agent could reach more than its workspace.',
      'The network was open: an agent could look up anything, including solutions.',
      'Task fix-leak installs a package in its setup.',
    ]);
  });

  test('says which tools of the provider the agents had, and which they had not', () => {
    const { manifest, rows } = sampleRun();
    const isolation = { ...manifest.isolation, network: 'provider-tools' };
    const stripped = rows.map((row) => ({ ...row, stripped_tools: ['web_search'] }));
    const { caveats } = summarize({ ...manifest, isolation }, stripped);
    expect(caveats.filter((caveat) => /network|removed/.test(caveat))).toEqual([
      'network: provider-tools. The gateway allowed tools that run at the provider: an agent could look up anything through them, including solutions.',
      'The gateway removed from requests what runs at the provider, or what it would fetch: web_search. Agents as shipped may have used it.',
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
      'The model was a script. Against baseline: better: agents-md (loop); inconclusive: agents-md (codex), agents-md (all agents).',
    );
    const single = sampleManifest({ variants: ['baseline'], trials: 3 }, { gateway: null });
    expect(summarize(single, []).headline).toBe('None of 3 cases has finished.');
    expect(
      summarize(
        single,
        sampleRows(single, () => 'error'),
      ).headline,
    ).toBe('None of 3 cases has a result: 3 errors.');
    expect(
      summarize(
        single,
        sampleRows(single, () => 'passed'),
      ).headline,
    ).toBe('3 of 3 cases passed.');
    expect(
      summarize(
        single,
        sampleRows(single, ({ trial_index }) => (trial_index === 1 ? 'passed' : 'error')),
      ).headline,
    ).toBe('1 of 1 case passed; 2 errors without a result.');
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
