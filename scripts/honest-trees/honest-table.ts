import type { MaskFacts } from '../../packages/whetstone/src/verify/verify.ts';

/** What the clean room said about honest work. */
export type HonestVerdict = {
  kind: 'gold patch' | 'refactor' | 'mutant' | 'no work';
  verdict: 'passed' | 'failed' | 'skipped' | 'cheating' | 'not judged';
  why?: string;
};

/** What was played on one task. `why`: it could not be masked. */
export type HonestTask = {
  repository: string;
  task: string;
  /** `isDefault`: without asking for them. */
  masks?: MaskFacts & { isDefault: boolean };
  verdicts: HonestVerdict[];
  why?: string;
};

const HEAD = [
  ...['repository', 'gold patches', 'masked', 'by default', 'slots per task', 'passed'],
  ...['other right work', 'passed', 'wrong work', 'called a cheat'],
];

/** A row per repository, and one for all of them. */
export function honestTable(all: readonly HonestTask[]): string {
  const byName = [...Map.groupBy(all, ({ repository }) => repository)];
  const lines = [HEAD, HEAD.map(() => '---'), ...[...byName, ['together', all] as const].map(rowOf)];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function rowOf([name, tasks]: readonly [string, readonly HonestTask[]]): string[] {
  const masked = tasks.flatMap(({ masks }) => masks ?? []);
  const verdicts = tasks.flatMap((one) => one.verdicts).filter(({ verdict }) => verdict !== 'not judged');
  const of = (...kinds: HonestVerdict['kind'][]) => verdicts.filter(({ kind }) => kinds.includes(kind));
  const passed = (found: readonly HonestVerdict[]) =>
    found.filter(({ verdict }) => verdict === 'passed').length;
  const slots = masked.map((one) => one.slots).toSorted((a, b) => a - b);
  const [gold, right, wrong] = [of('gold patch'), of('refactor'), of('mutant', 'no work')];
  const cells = [
    ...[tasks.length, masked.length, masked.filter(({ isDefault }) => isDefault).length],
    slots.length === 0 ? '–' : `${slots[0]} – ${slots.at(-1)}, median ${slots[Math.floor(slots.length / 2)]}`,
    `${passed(gold)} of ${gold.length}`,
    ...[right.length, passed(right), wrong.length],
    verdicts.filter(({ verdict }) => verdict === 'cheating').length,
  ];
  return [name, ...cells.map(String)];
}
