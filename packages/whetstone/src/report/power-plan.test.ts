import { expect, test } from 'vitest';
import { sampleManifest, sampleRows } from './__fixtures__/sample-run.ts';
import { planPower } from './power-plan.ts';
import { renderPowerPlan } from './render-power-plan.ts';

const question = { effect: 0.1, power: 0.8, trials: [1, 3], jobs: 2 };
const TASKS = Array.from({ length: 10 }, (_, i) => `task-${i}`);

test('without an earlier run the spread is assumed, and cost and time are unknown', () => {
  const plan = planPower({ ...question, tasks: 20 });
  expect(plan).toMatchObject({ arms: 2, comparisons: 1, source: { run_id: null, tasks: 0 } });
  expect(plan.choices).toMatchObject([
    { trials: 1, tasks: 265, runs: 530, cost_usd: null, hours: null },
    { trials: 3, tasks: 132, runs: 792, cost_usd: null, hours: null },
  ]);
  expect(plan.with_tasks?.shows[0]?.effect).toBeGreaterThan(plan.with_tasks?.shows[1]?.effect ?? 1);
  expect(renderPowerPlan(plan, 80)).toMatchInlineSnapshot(`
    "To show a true difference of 10 pp in 80 % of experiments with 2 arms, from an
    assumed spread over tasks, because no earlier run shows it:

      trials  tasks  cases  cost  time
           1    265    530     –     –
           3    132    792     –     –

    The smallest true difference that your 20 tasks can show:

      trials     difference
           1  38 pp or more
           3  27 pp or more

    Fewest cases: 1 trial of 265 tasks. More tasks with fewer trials need fewer
    cases, where there are tasks.
    The cost is unknown: no earlier run has the cost of all its cases."
  `);
});

test('an earlier run gives the spread, the arms, the cost and the time', () => {
  const manifest = sampleManifest({ tasks: TASKS, variants: ['baseline', 'a', 'b'], trials: 2 });
  const rows = sampleRows(manifest, ({ variant, trial_index }) =>
    variant === 'baseline' && trial_index === 1 ? 'failed' : 'passed',
  ).map((row) => ({ ...row, cost_usd: 0.5, duration_seconds: 36 }));
  const plan = planPower(question, { manifest, rows });
  expect(plan).toMatchObject({
    ...{ arms: 3, comparisons: 2, with_tasks: null },
    source: { run_id: manifest.run_id, tasks: 10, one_trial: false },
    spread: { between: 0, within: 0.5 },
  });
  for (const { trials, tasks, runs, cost_usd, hours } of plan.choices) {
    expect(runs).toBe(3 * (tasks ?? 0) * trials);
    expect(cost_usd).toBeCloseTo(0.5 * (runs ?? 0), 9);
    expect(hours).toBeCloseTo((36 * (runs ?? 0)) / 3600 / 2, 9);
  }
});

test('one case of unknown cost leaves the cost of the plan unknown', () => {
  const manifest = sampleManifest({ tasks: TASKS, trials: 2 });
  const rows = sampleRows(manifest, () => 'passed').map((row, i) => ({
    ...row,
    cost_usd: i === 3 ? null : 0.5,
  }));
  expect(planPower(question, { manifest, rows }).choices[0]).toMatchObject({
    cost_usd: null,
    hours: expect.any(Number),
  });
});

test('more comparisons, more power and smaller differences need more tasks', () => {
  const tasks = (more: Partial<typeof question>) =>
    planPower({ ...question, ...more }).choices[0]?.tasks ?? 0;
  expect(tasks({ power: 0.9 })).toBeGreaterThan(tasks({}));
  expect(tasks({ effect: 0.05 })).toBeGreaterThan(tasks({}));
  expect(planPower({ ...question, effect: 0.001 }).choices[0]).toMatchObject({ tasks: null, runs: null });
});
