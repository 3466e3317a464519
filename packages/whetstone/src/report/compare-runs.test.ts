import { createColors } from 'picocolors';
import { describe, expect, test } from 'vitest';
import type { CaseRow } from '../record/row.ts';
import { type Planned, sampleManifest, sampleRow } from './__fixtures__/sample-run.ts';
import { calibrateRun } from './calibrate.ts';
import { compareRuns, type Side } from './compare-runs.ts';
import { renderComparison } from './render-comparison.ts';

const TASKS = Array.from({ length: 8 }, (_, i) => `task-${i + 1}`);

type Rows = (planned: Planned) => { outcome: CaseRow['outcome']; row?: Partial<CaseRow> } | undefined;

function side(
  label: string,
  shape: Parameters<typeof sampleManifest>[0],
  rows: Rows,
  run_id = 'run-1',
): Side {
  const manifest = sampleManifest({ tasks: TASKS, trials: 2, ...shape }, { run_id });
  const made = manifest.case_matrix.flatMap((planned) => {
    const given = rows(planned);
    return given ? [sampleRow(planned, given.outcome, given.row)] : [];
  });
  return { label, manifest, rows: made };
}

const passes: Rows = () => ({ outcome: 'passed' });
const fails: Rows = () => ({ outcome: 'failed' });

describe('arms', () => {
  test('of two runs are paired by agent and variant; what has no counterpart is named', () => {
    const a = side('old', { variants: ['baseline', 'gone'] }, fails);
    const b = side('new', { variants: ['baseline', 'added'] }, passes, 'run-2');
    const found = compareRuns(a, b);
    expect(found.pairs).toMatchObject([
      {
        a: { variant: 'baseline' },
        b: { variant: 'baseline' },
        comparison: { difference: 1, verdict: 'better' },
      },
    ]);
    expect(found.unpaired_arms).toEqual([
      { side: 'a', agent: 'loop', variant: 'gone' },
      { side: 'b', agent: 'loop', variant: 'added' },
    ]);
    expect(found.left_out).toEqual(['2 arms that the runs planned are left out with their results.']);
    expect(found.differences).toEqual([]);
    expect(found.caveats.join()).toContain('did not run side by side');
  });

  test('of two variants are paired by agent, and of two agents by variant', () => {
    const whole = side('run', { agents: ['one', 'two'] }, ({ variant }) =>
      (variant === 'baseline' ? fails : passes)({} as Planned),
    );
    const named = (found: ReturnType<typeof compareRuns>) =>
      found.pairs.map(({ a, b }) => `${a.agent}/${a.variant} ${b.agent}/${b.variant}`);
    expect(named(compareRuns({ ...whole, variant: 'baseline' }, { ...whole, variant: 'agents-md' }))).toEqual(
      ['one/baseline one/agents-md', 'two/baseline two/agents-md'],
    );
    const { left_out } = compareRuns({ ...whole, variant: 'baseline' }, { ...whole, variant: 'agents-md' });
    expect(left_out).toEqual([]);
    expect(named(compareRuns({ ...whole, agent: 'one' }, { ...whole, agent: 'two' }))).toEqual([
      'one/baseline two/baseline',
      'one/agents-md two/agents-md',
    ]);
    const crossed = compareRuns(
      { ...whole, agent: 'one', variant: 'baseline' },
      { ...whole, agent: 'two', variant: 'agents-md' },
    );
    expect(named(crossed)).toEqual(['one/baseline two/agents-md']);
  });
});

test('different variants whose first model requests are alike are named, and the same variant is not', () => {
  const asked = (request: (planned: Planned) => string): Rows => {
    return (planned) => ({ outcome: 'passed', row: { first_request: request(planned) } });
  };
  const whole = side(
    'run',
    {},
    asked(({ task_id }) => task_id),
  );
  const ofTwo = compareRuns({ ...whole, variant: 'baseline' }, { ...whole, variant: 'agents-md' });
  expect(ofTwo.caveats).toContainEqual(
    expect.stringContaining(
      'The first model request of loop was the same in agents-md (B) as in baseline (A), in all 8 tasks where both are known',
    ),
  );
  const other = side(
    'run',
    {},
    asked(({ task_id, variant }) => (task_id === 'task-1' ? variant : task_id)),
  );
  const differing = compareRuns({ ...other, variant: 'baseline' }, { ...other, variant: 'agents-md' });
  const again = compareRuns(
    whole,
    side(
      'again',
      {},
      asked(({ task_id }) => task_id),
      'run-2',
    ),
  );
  for (const { caveats } of [differing, again]) expect(caveats.join()).not.toContain('first model request');
});

test('a task with another content under the same id is not compared', () => {
  const a = side('old', { variants: ['baseline'] }, passes);
  const b = side('new', { variants: ['baseline'], tasks: [...TASKS.slice(1), 'extra'] }, passes, 'run-2');
  const [first] = b.manifest.tasks;
  if (first) first.fingerprint = 'changed';
  const found = compareRuns(a, b);
  expect(found.left_out).toEqual([expect.stringMatching(/^\d tasks that the runs planned are left out/)]);
  expect(found.excluded_tasks).toEqual([
    { task: 'task-1', why: 'only in A' },
    { task: 'task-2', why: 'changed' },
    { task: 'extra', why: 'only in B' },
  ]);
  expect(found.pairs[0]?.comparison.tasks).toBe(6);
  const shown = renderComparison(found, { colors: createColors(false), width: 80 });
  expect(shown).toMatch(/^Exploratory: \d tasks that the runs planned are left out/m);
  const whole = renderComparison(compareRuns(a, { ...a, label: 'again' }), {
    colors: createColors(false),
    width: 80,
  });
  expect(whole).not.toContain('Exploratory:');
});

test('two runs are compared by the metric that both declare, and early exits have no rates', () => {
  const declared = (one: Side, more: Partial<Side['manifest']>): Side => ({
    ...one,
    manifest: { ...one.manifest, ...more },
  });
  const early = { metric: 'pass_at_k', early_exit: true } as const;
  const a = side('old', {}, fails);
  const b = side('new', {}, (planned) => (planned.trial_index === 2 ? { outcome: 'passed' } : undefined));
  const { metric, pairs } = compareRuns(declared(a, early), declared(b, early));
  expect(metric).toEqual({ kind: 'pass_at_k', title: 'pass@2', unit: 'pp' });
  expect(pairs[0]).toMatchObject({ b: { primary: { value: 1 }, pass_rate: null }, flips: [] });
  expect(pairs[0]?.comparison.sentence).toMatch(/^better: pass@2 \+100 pp/);
  expect(() => compareRuns(a, declared(b, early))).toThrow('different metrics: pass rate and pass@2');
  expect(() => calibrateRun(declared(b, early), { effect: 0.1, replays: 10 })).toThrow('compares pass@2');
});

test('flips, failure classes and ratios stand beside the difference; unknown amounts make no ratio', () => {
  const whole = side('run', {}, ({ variant, task_id, trial_index }) => {
    const isBaseline = variant === 'baseline';
    const isFlip = task_id === 'task-3' || (task_id === 'task-5' && trial_index === 1);
    return {
      outcome: isFlip === isBaseline ? 'failed' : 'passed',
      row: { total_tokens: isBaseline ? 100 : 50, cost_usd: isBaseline || trial_index === 1 ? 1 : null },
    };
  });
  const [pair] = compareRuns({ ...whole, variant: 'baseline' }, { ...whole, variant: 'agents-md' }).pairs;
  expect(pair?.flips.map(({ task, a, b }) => `${task} ${a.passed} ${b.passed}`)).toEqual([
    'task-3 0 2',
    ...['task-1', 'task-2', 'task-4', 'task-6', 'task-7', 'task-8'].map((task) => `${task} 2 0`),
  ]);
  expect(pair?.ratios.tokens?.ratio).toBeCloseTo(0.5, 12);
  expect(pair?.ratios.cost).toBeNull();
  expect(pair?.failures.map(({ a, b }) => [a, b])).toEqual([[3, 13]]);
});

describe('a gate', () => {
  const compared = (ofVariant: Rows, bound: number) => {
    const whole = side('run', {}, (planned) =>
      (planned.variant === 'baseline' ? passes : ofVariant)(planned),
    );
    return compareRuns(
      { ...whole, variant: 'baseline' },
      { ...whole, variant: 'agents-md' },
      { gate: { text: `delta > ${bound}`, bound } },
    ).gate;
  };

  test('passes only when the whole interval is above the bound', () => {
    expect(compared(passes, -0.3)).toMatchObject({ status: 'passed', tasks_needed: null });
    expect(compared(passes, -0.01)).toMatchObject({
      status: 'inconclusive',
      sentence: expect.stringContaining('would settle it'),
    });
  });

  test('fails only when the whole interval is below it', () => {
    expect(compared(fails, -0.05)).toMatchObject({ status: 'failed' });
    const some: Rows = ({ task_id }) => (task_id === 'task-1' ? fails : passes)({} as Planned);
    expect(compared(some, -0.05)).toMatchObject({ status: 'inconclusive' });
  });

  test('is not passed by cases without a result', () => {
    const missing: Rows = ({ task_id }) => (task_id === 'task-1' ? undefined : { outcome: 'passed' });
    expect(compared(missing, -0.2)).toMatchObject({ status: 'inconclusive' });
  });
});

describe('a baseline of another day', () => {
  const saved = side('main', { variants: ['baseline'] }, ({ task_id, trial_index }) => ({
    outcome: task_id <= 'task-4' || trial_index === 1 ? 'passed' : 'failed',
  }));
  /** The model has become worse for everybody: what passed once in two trials fails now. */
  const now = (
    bridge: readonly string[],
    rows: Rows = ({ task_id }) => ({ outcome: task_id <= 'task-4' ? 'passed' : 'failed' }),
  ) =>
    side(
      'latest',
      {},
      (planned) =>
        planned.variant === 'agents-md' || bridge.includes(planned.task_id) ? rows(planned) : undefined,
      'run-2',
    );
  const compared = (b: Side, options = {}) => compareRuns(saved, { ...b, variant: 'agents-md' }, options);

  test('is corrected by bridge trials, which show the drift', () => {
    const found = compared(now(TASKS));
    const [pair] = found.pairs;
    expect(pair?.comparison).toMatchObject({
      ...{ difference: 0, verdict: 'inconclusive' },
      bridge: { variant: 'baseline', tasks: 8, trials: 16, drift: -0.25 },
    });
    expect(pair?.comparison.sentence).toContain(
      'bridge trials of baseline on 8 tasks show a drift of −25 pp since',
    );
    expect(found.caveats.join()).toContain('Bridge trials measured what has changed since');
    // The bridge is used, and not left out.
    expect(found.left_out).toEqual([]);
  });

  test('is corrected by the bridge on half of the tasks as well', () => {
    const [pair] = compared(now(['task-1', 'task-2', 'task-5', 'task-6'])).pairs;
    expect(pair?.comparison).toMatchObject({ difference: 0, bridge: { tasks: 4, drift: -0.25 } });
  });

  test('says so where nothing shows the drift: without bridge trials, or with a changed baseline', () => {
    const found = compared(now(['task-1', 'task-2', 'task-3']));
    expect(found.pairs[0]?.comparison).toMatchObject({ difference: -0.25 });
    expect(found.pairs[0]?.comparison).not.toHaveProperty('bridge');
    expect(found.caveats.join()).toContain('there are no bridge trials');
    const other = now(TASKS);
    const variants = other.manifest.variants.map((one) => ({ ...one, fingerprint: 'another' }));
    const changed = compared({ ...other, manifest: { ...other.manifest, variants } });
    expect(changed.pairs[0]?.comparison).not.toHaveProperty('bridge');
  });

  test('moves the gate as well', () => {
    const gate = { text: 'delta > -10pp', bound: -0.1 };
    expect(compared(now(TASKS, passes), { gate }).gate).toMatchObject({ status: 'inconclusive' });
    const better = side(
      'latest',
      {},
      ({ variant }) => ({ outcome: variant === 'baseline' ? 'failed' : 'passed' }),
      'run-2',
    );
    expect(compared(better, { gate }).gate).toMatchObject({ status: 'passed' });
  });
});

test('errors and retries of the arms are compared within tasks', () => {
  const whole = side('run', {}, ({ variant }) =>
    variant === 'baseline' ? { outcome: 'passed' } : { outcome: 'error', row: { retries: 1 } },
  );
  const { pairs, caveats } = compareRuns(
    { ...whole, variant: 'baseline' },
    { ...whole, variant: 'agents-md' },
  );
  expect(pairs[0]?.comparison.missing_data).toMatchObject({
    errors: { variant: { count: 16, cases: 16 }, baseline: { count: 0, cases: 16 } },
    retried: { variant: { count: 16, cases: 16 } },
  });
  expect(pairs[0]?.comparison.missing_data?.errors.p_value).toBeLessThan(0.001);
  expect(caveats.join()).toContain(
    'Errors are not spread alike: 16 of 16 cases of agents-md and 0 of 16 of baseline (loop, p < 0.001',
  );
});

test('the worth of a pass makes passes and costs one number, over a range of worths', () => {
  const whole = side('run', {}, ({ variant, task_id }) =>
    variant === 'baseline'
      ? { outcome: task_id <= 'task-4' ? 'passed' : 'failed', row: { cost_usd: 0.1 } }
      : { outcome: 'passed', row: { cost_usd: 0.3 } },
  );
  const arms = [
    { ...whole, variant: 'baseline' },
    { ...whole, variant: 'agents-md' },
  ] as const;
  const [pair] = compareRuns(...arms, { passWorth: 1 }).pairs;
  expect(pair?.value?.tasks).toBe(8);
  const values = pair?.value?.values.map((one) => [one.pass_worth_usd, Number(one.value_usd.toFixed(3))]);
  expect(values).toEqual([
    [1, 0.3],
    [0.2, -0.1],
    [0.5, 0.05],
    [2, 0.8],
    [5, 2.3],
  ]);
  expect(pair?.value?.values[0]?.interval).toMatchObject({ level: 0.95 });
  const unknown = side('run', {}, () => ({ outcome: 'passed', row: { cost_usd: null } }));
  const without = compareRuns(
    { ...unknown, variant: 'baseline' },
    { ...unknown, variant: 'agents-md' },
    { passWorth: 1 },
  );
  expect(without.pairs[0]).not.toHaveProperty('value');
});

test('a run that goes on shows an e-value for looks that nobody planned', () => {
  const goingOn = side('run', {}, ({ task_id, variant }) =>
    task_id === 'task-8' ? undefined : { outcome: variant === 'baseline' ? 'failed' : 'passed' },
  );
  const { pairs, caveats } = compareRuns(
    { ...goingOn, variant: 'baseline' },
    { ...goingOn, variant: 'agents-md' },
  );
  const [pair] = pairs;
  expect(pair?.comparison.e_value).toMatchObject({ tasks: 7, needed: 20 });
  expect(pair?.comparison.e_value?.value).toBeCloseTo(16, 0);
  expect(caveats.join()).toContain(
    'only an e-value of 20 or more shows a difference (agents-md (loop): 16 over 7 tasks)',
  );
});
