import { disagreement, type Reverified, shownShare, verifierDeviation } from '../stats/verifier-noise.ts';
import type { CaseResult } from './case-results.ts';
import { counted, percentNumber, points } from './format.ts';
import type { Comparison, VerifierEffect, VerifierNoise } from './summary.ts';
import type { ArmPair } from './task-differences.ts';

type Tree = { task: string; tree: Reverified };

/** `null`: no tree was verified twice. */
export function verifierNoise(cases: readonly CaseResult[]): VerifierNoise | null {
  const trees = cases.flatMap(treeOf);
  if (trees.length === 0) return null;
  const tasks = [...Map.groupBy(trees, ({ task }) => task)].map(([task, ofTask]) => ({
    ...{ task, trees: ofTask.length, disagreed: disagreedOf(ofTask) },
    disagreement: mean(ofTask.map(({ tree }) => disagreement(tree))),
  }));
  const all = mean(tasks.map((one) => one.disagreement));
  return {
    ...{ trees: trees.length, disagreed: disagreedOf(trees) },
    disagreement: all,
    shown_share: shownShare(all),
    tasks: tasks.filter(({ disagreed }) => disagreed > 0).sort((a, b) => b.disagreement - a.disagreement),
  };
}

/** `null` for other metrics than the pass rate, and where a compared tree was verified once. */
export function verifierEffect(parts: readonly ArmPair[]): VerifierEffect | null {
  const [first, ...others] = parts;
  if (!first || others.length > 0 || first.metric.kind !== 'pass_rate') return null;
  const { variant, baseline } = first;
  const ofBaseline = treesByTask(baseline.cases);
  const tasks = [...treesByTask(variant.cases)].flatMap(([task, trees]) => {
    const base = ofBaseline.get(task);
    return base ? [{ variant: trees, baseline: base }] : [];
  });
  if (tasks.length === 0 || tasks.some((one) => [...one.variant, ...one.baseline].includes(undefined)))
    return null;
  const known = tasks as { variant: Reverified[]; baseline: Reverified[] }[];
  const rate = (trees: readonly Reverified[]) => mean(trees.map(({ passed, runs }) => passed / runs));
  return {
    averaged_difference: mean(known.map((one) => rate(one.variant) - rate(one.baseline))),
    standard_deviation: verifierDeviation(known),
  };
}

/** What a reader has to know of it, in sentences. */
export function aboutTheVerifier(cases: readonly CaseResult[]): string[] {
  const noise = verifierNoise(cases);
  if (!noise) return [];
  const { trees, disagreed, tasks, shown_share: share } = noise;
  if (disagreed === 0)
    return [
      `Each of ${counted(trees, 'stored tree')} was verified several times, always with the same result.`,
    ];
  const named = tasks
    .slice(0, 5)
    .map((one) => `${one.task} (${one.disagreed} of ${counted(one.trees, 'tree')})`)
    .join(', ');
  const effect =
    share === null
      ? 'With so many, no difference of these tasks means anything.'
      : `If the verifier is wrong about good and bad work alike, a difference is shown at ${percentNumber(share)} % of its size.`;
  return [
    `Verifications of the same tree disagreed in ${disagreed} of ${counted(trees, 'tree')}: ${named}${tasks.length > 5 ? ' and others' : ''}. ${effect} The verdicts here are those of the first verification.`,
  ];
}

/** The effect on one comparison in words; empty where it is not known or nothing. */
export function verifierSentence({
  difference,
  verifier,
}: Pick<Comparison, 'difference' | 'verifier'>): string {
  if (!verifier || difference === null || verifier.standard_deviation === 0) return '';
  return `; the verifier alone moves this difference by ±${percentNumber(verifier.standard_deviation)} pp (one standard deviation), and over all its verifications it is ${points(verifier.averaged_difference)} pp`;
}

function treeOf(one: CaseResult): Tree[] {
  const tree = reverified(one);
  return tree ? [{ task: one.task_id, tree }] : [];
}

/** A verification in a clean room that could not work says nothing. */
function reverified({ row }: CaseResult): Reverified | undefined {
  if (!row?.verifications) return undefined;
  const { runs, passed, broken } = row.verifications;
  return runs - broken < 2 ? undefined : { passed, runs: runs - broken };
}

function treesByTask(cases: readonly CaseResult[]): Map<string, (Reverified | undefined)[]> {
  const judged = cases.filter(({ row }) => row?.outcome === 'passed' || row?.outcome === 'failed');
  return new Map(
    [...Map.groupBy(judged, (one) => one.task_id)].map(([task, ofTask]) => [task, ofTask.map(steady)]),
  );
}

/** A case that ended before anything judged it always has the same outcome. */
const steady = (one: CaseResult): Reverified | undefined =>
  reverified(one) ??
  (one.row?.status === 'agent_failed' || one.row?.status === 'timeout' ? { passed: 0, runs: 2 } : undefined);

const disagreedOf = (trees: readonly Tree[]): number =>
  trees.filter(({ tree: { passed, runs } }) => passed > 0 && passed < runs).length;

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
