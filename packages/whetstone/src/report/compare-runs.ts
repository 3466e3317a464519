import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { StoredAudit } from '../record/audits.ts';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { logRatio, type Ratio } from '../stats/log-ratio.ts';
import { auditLine } from './audit-line.ts';
import { type CaseResult, caseResults } from './case-results.ts';
import { aboutServers } from './caveats.ts';
import { compareVariants } from './compare-variants.ts';
import { aboutTheContext } from './context-caveats.ts';
import { findBridge, type RunArms } from './find-bridge.ts';
import { counted } from './format.ts';
import { type Gate, judgeGate } from './gate.ts';
import { groupFailures } from './group-failures.ts';
import { aboutMissingData } from './missing-data.ts';
import { passWorth } from './pass-worth.ts';
import { sharedRequest } from './request-caveats.ts';
import type { PairComparison, RunComparison, SideFacts } from './run-comparison.ts';
import { runDifferences } from './run-differences.ts';
import { resultsOfRun, sequentialState } from './sequential.ts';
import { auditOfRun } from './suite-audit.ts';
import { summarizeArm } from './summarize-arm.ts';
import type { Arm, Comparison, Summary } from './summary.ts';
import type { ArmPair } from './task-differences.ts';
import { commonMetric, type TaskCount, taskCounts } from './task-values.ts';
import { aboutUnplannedLooks } from './unplanned-look.ts';

/** A run, or some arms of it. `label` is how the user named it. */
export type Side = {
  label: string;
  manifest: Manifest;
  rows: readonly CaseRow[];
  /** Default: none. */
  audits?: readonly StoredAudit[];
  /** Which arms of the run; without it all. */
  agent?: string;
  variant?: string;
};

/**
 * Compares B with A: each arm of B with its counterpart in A, over the tasks that both have with the same content.
 * @throws WhetstoneError `run-metric` where they declare different metrics, and for a gate on an amount
 */
export function compareRuns(
  a: Side,
  b: Side,
  { gate, passWorth: worth }: { gate?: Gate; passWorth?: number } = {},
): RunComparison {
  const excluded = excludedTasks(a.manifest, b.manifest);
  const left = new Set(excluded.map(({ task }) => task));
  const metric = commonMetric(a.manifest, b.manifest);
  const [armsOfA, armsOfB] = [armsOf(a, left, metric), armsOf(b, left, metric)];
  const matched = pairArms(armsOfA, armsOfB);
  const wholeOf = ({ label, manifest, rows }: Side): RunArms => ({
    manifest,
    arms: armsOf({ label, manifest, rows }, left, metric),
  });
  const [runOfA, runOfB] = [wholeOf(a), wholeOf(b)];
  const pairs = matched.map((one): ArmPair => {
    const bridge = findBridge(one.a, one.b, runOfA, runOfB);
    return { variant: one.b, baseline: one.a, metric, ...present({ bridge }) };
  });
  const comparisons = compareVariants(pairs, {
    margin: commonMargin(a.manifest, b.manifest),
    alpha: Math.min(alphaOf(a), alphaOf(b)),
  });
  const used = new Set(matched.flatMap(({ a, b }) => [a, b]));
  const bridges = new Set(pairs.flatMap(({ bridge }) => bridge?.now ?? []));
  const unpaired = (side: 'a' | 'b', arms: readonly ArmOfSide[]) =>
    arms.filter((arm) => !used.has(arm)).map(({ arm: { agent, variant } }) => ({ side, agent, variant }));
  return {
    schema_version: '1',
    a: factsOf(a),
    b: factsOf(b),
    metric,
    pairs: matched.flatMap(({ a, b }, i) => {
      const comparison = comparisons[i];
      if (!comparison) return [];
      const value = worth === undefined ? undefined : (passWorth(a.cases, b.cases, worth) ?? undefined);
      return [
        {
          ...{ a: a.arm, b: b.arm, comparison },
          ...detailsOf(a.cases, b.cases, metric),
          ...present({ value }),
        },
      ];
    }),
    pooled: comparisons.slice(matched.length),
    unpaired_arms: [...unpaired('a', armsOfA), ...unpaired('b', armsOfB)],
    excluded_tasks: excluded,
    left_out: leftOut(excluded.length, [a, b], used.size + bridges.size),
    differences: runDifferences(a, b),
    exposure: aboutTheContext([...used].flatMap(({ cases }) => cases)),
    caveats: [
      ...aboutUnplannedLooks(comparisons),
      ...aboutMissingData(comparisons),
      ...aboutTheDays(a, b, comparisons),
      ...matched.flatMap((one) => aboutRequests(one, a, b)),
      ...aboutServers([...used].flatMap(({ cases }) => cases)),
      ...caveatsOf(a, b, metric),
    ],
    gate: gate ? judgeGate(requirePoints(gate, metric), pairs) : null,
  };
}

type ArmOfSide = ArmPair['variant'];

/** Arms of different variants whose first requests are alike. Nothing of the same variant, as in two runs of one arm. */
function aboutRequests(pair: { a: ArmOfSide; b: ArmOfSide }, a: Side, b: Side): string[] {
  const sides = [
    { side: 'A', ...pair.a, manifest: a.manifest },
    { side: 'B', ...pair.b, manifest: b.manifest },
  ];
  const contents = sides.map(
    ({ arm, manifest }) => manifest.variants.find(({ name }) => name === arm.variant)?.fingerprint,
  );
  const [ofA, ofB] = sides.map(({ side, arm, cases }) => ({
    name: `${arm.variant} (${side})`,
    rows: cases.flatMap(({ row }) => row ?? []),
  }));
  return ofA && ofB && contents[0] !== contents[1] ? sharedRequest(pair.b.arm.agent, ofA, ofB) : [];
}

function leftOut(tasks: number, sides: readonly Side[], used: number): string[] {
  const manifests = new Map(sides.map(({ manifest }) => [manifest.run_id, manifest]));
  const planned = [...manifests.values()].reduce(
    (total, { case_matrix: cases }) =>
      total + new Set(cases.map(({ agent_name, variant }) => JSON.stringify([agent_name, variant]))).size,
    0,
  );
  const arms = planned - used;
  const say = (count: number, noun: string) => {
    const [is, its] = count === 1 ? ['is', 'its'] : ['are', 'their'];
    return count > 0
      ? [`${counted(count, noun)} that the runs planned ${is} left out with ${its} results.`]
      : [];
  };
  return [...say(arms, 'arm'), ...say(tasks, 'task')];
}

function factsOf({ label, manifest, audits = [] }: Side): SideFacts {
  const { run_id, created_at, tasks } = manifest;
  const audit = auditOfRun(manifest, audits);
  return { label, run_id, created_at, ...present({ audit: audit && auditLine(audit, tasks.length) }) };
}

/** Tasks are the same by id and content, so that a changed task is never taken for the old one (statistics, unit). */
function excludedTasks(a: Manifest, b: Manifest): RunComparison['excluded_tasks'] {
  const [ofA, ofB] = [a, b].map(({ tasks }) => new Map(tasks.map((task) => [task.id, contentOf(task)])));
  const ids = new Set([...(ofA?.keys() ?? []), ...(ofB?.keys() ?? [])]);
  return [...ids].flatMap((task) => {
    const [inA, inB] = [ofA?.get(task), ofB?.get(task)];
    if (inA === inB) return [];
    return [
      { task, why: inB === undefined ? 'only in A' : inA === undefined ? 'only in B' : 'changed' } as const,
    ];
  });
}

const contentOf = ({ fingerprint, commit }: Manifest['tasks'][number]): string => `${fingerprint} ${commit}`;

function armsOf(
  { manifest, rows, agent, variant }: Side,
  left: ReadonlySet<string>,
  metric: Summary['metric'],
): ArmOfSide[] {
  const cases = resultsOfRun(manifest, rows).filter(
    (one) =>
      !left.has(one.task_id) &&
      (agent === undefined || one.agent_name === agent) &&
      (variant === undefined || one.variant === variant),
  );
  return [...Map.groupBy(cases, (one) => JSON.stringify([one.agent_name, one.variant])).values()].flatMap(
    (ofArm) => {
      const [first] = ofArm;
      return first
        ? [
            {
              arm: summarizeArm(first.agent_name, first.variant, { cases: ofArm, metric: metric.kind }),
              cases: ofArm,
            },
          ]
        : [];
    },
  );
}

/**
 * The arms of A and B that belong together: those of the same agent and variant; where there are none, those of the same
 * agent, or else of the same variant; and the only two.
 */
function pairArms(ofA: readonly ArmOfSide[], ofB: readonly ArmOfSide[]): { a: ArmOfSide; b: ArmOfSide }[] {
  const keys: ((arm: Arm) => string)[] = [
    ({ agent, variant }) => JSON.stringify([agent, variant]),
    ({ agent }) => agent,
    ({ variant }) => variant,
    () => '',
  ];
  for (const key of keys) {
    const found = ofB.flatMap((b) => ofA.filter((a) => key(a.arm) === key(b.arm)).map((a) => ({ a, b })));
    const isOneToOne =
      new Set(found.map(({ a }) => a)).size === found.length &&
      new Set(found.map(({ b }) => b)).size === found.length;
    if (found.length > 0 && isOneToOne) return found;
  }
  return [];
}

function detailsOf(
  a: readonly CaseResult[],
  b: readonly CaseResult[],
  metric: Summary['metric'],
): Pick<PairComparison, 'flips' | 'ratios' | 'failures'> {
  return {
    // Trials that ended with the first pass have no rate.
    flips: metric.kind === 'pass_at_k' ? [] : flipsOf(taskCounts(a), taskCounts(b)),
    ratios: {
      cost: ratioOf(a, b, (row) => row.cost_usd),
      tokens: ratioOf(a, b, (row) => row.total_tokens),
      seconds: ratioOf(a, b, (row) => row.agent_duration_seconds),
    },
    failures: failuresOf(a, b),
  };
}

function flipsOf(ofA: Map<string, TaskCount>, ofB: Map<string, TaskCount>): PairComparison['flips'] {
  const rate = ({ passed, trials }: TaskCount) => passed / trials;
  return [...ofB]
    .flatMap(([task, b]) => {
      const a = ofA.get(task);
      return a && rate(a) !== rate(b) ? [{ task, a, b }] : [];
    })
    .sort((one, other) => rate(other.b) - rate(other.a) - (rate(one.b) - rate(one.a)));
}

/** Per task the mean over the trials whose amount is known. A task with a trial of unknown amount is left out. */
function ratioOf(
  a: readonly CaseResult[],
  b: readonly CaseResult[],
  amount: (row: CaseRow) => number | null,
): Ratio | null {
  const means = (cases: readonly CaseResult[]) =>
    new Map(
      [...Map.groupBy(cases, (one) => one.task_id)].flatMap(([task, trials]) => {
        const amounts = trials.flatMap(({ row }) => (row ? [amount(row)] : []));
        const known = amounts.filter((one) => one !== null);
        if (known.length === 0 || known.length < amounts.length) return [];
        return [[task, known.reduce((total, one) => total + one, 0) / known.length] as const];
      }),
    );
  const ofA = means(a);
  return logRatio(
    [...means(b)].flatMap(([task, variant]) => {
      const baseline = ofA.get(task);
      return baseline === undefined ? [] : [{ variant, baseline }];
    }),
  );
}

function failuresOf(a: readonly CaseResult[], b: readonly CaseResult[]): PairComparison['failures'] {
  const [ofA, ofB] = [groupFailures(a), groupFailures(b)];
  const classes = new Map([...ofA, ...ofB].map((group) => [group.class, group.title]));
  const count = (groups: typeof ofA, name: string) =>
    groups.find((group) => group.class === name)?.count ?? 0;
  return [...classes]
    .map(([name, title]) => ({ class: name, title, a: count(ofA, name), b: count(ofB, name) }))
    .sort((one, other) => other.a + other.b - (one.a + one.b) || (one.class < other.class ? -1 : 1));
}

/** @throws WhetstoneError `run-metric` for amounts, which have no points */
function requirePoints(gate: Gate, { title, unit }: Summary['metric']): Gate {
  if (unit === 'pp') return gate;
  throw new WhetstoneError(
    'run-metric',
    `The gate ${gate.text} is in points, and the runs declare the metric ${title}.`,
    {
      hint: 'Compare without --gate, and read the interval and the verdict.',
    },
  );
}

/** The level of the last look that a sequential run took: a run that ended early asks for more than 5 %. */
function alphaOf({ manifest, rows }: Side): number {
  const state = sequentialState(manifest, caseResults(manifest, rows));
  return manifest.looks?.[Math.max(0, (state?.done ?? 0) - 1)]?.alpha ?? 0.05;
}

/** The margin that both runs declared. A margin that only one of them declared was chosen after the other's results. */
const commonMargin = (a: Manifest, b: Manifest): number | undefined =>
  a.equivalence === b.equivalence ? a.equivalence : undefined;

function caveatsOf(a: Side, b: Side, { title }: Summary['metric']): string[] {
  const scripted = [a, b].some(({ manifest }) => manifest.gateway?.mode === 'script');
  return [
    ...(scripted ? ['The model was a script: these numbers say nothing about a real model.'] : []),
    `Only the declared metric makes a verdict: ${title}. All else is exploratory, cost, tokens and time too.`,
  ];
}

/** A baseline of another day: corrected by bridge trials, or open to whatever has changed since. */
function aboutTheDays(a: Side, b: Side, comparisons: readonly Comparison[]): string[] {
  if (a.manifest.run_id === b.manifest.run_id) return [];
  const open = comparisons.filter(({ bridge }) => !bridge).length;
  if (open === 0) {
    return [
      'The two sides did not run side by side. Bridge trials measured what has changed since, and the differences are corrected by them; cost, tokens and time are not.',
    ];
  }
  return [
    'The two sides did not run side by side, and there are no bridge trials: trials of the arm of A that ran beside those of B, on four tasks or more. If the model or its provider changed by 2 to 5 points in between, "better" and "worse" are wrong in 8 to 33 % of such comparisons instead of 5 %. To be sure, run both variants in one run, or B with --bridge.',
  ];
}
