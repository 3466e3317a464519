import { withoutNetwork } from '@whetstone/sandbox';
import { type Surroundings, variationsOf } from '../verify/tests/run-tests.ts';
import type { Bench } from './bench.ts';
import { type Finding, finding } from './finding.ts';
import { graderOf } from './graded.ts';

/** Most tests that are run alone. */
const ALONE = 8;

/** Grades the solved tree in surroundings in which right tests give the same result: another order, a later date, no network. */
export async function playSurroundings(bench: Bench, findings: Finding[]): Promise<void> {
  const { task, tree, grade } = bench;
  const { tests } = task.validation;
  if (tree.patch === null || !tests) return;
  const before = await grade('gold 1', tree.patch);
  if (before.verdict !== 'passed') return;
  const { order, date } = variationsOf(tests.runner);
  // Where the sandbox has no network, the first grading was one without.
  const { network } = await bench.options.room.describe();
  const prefix = network === 'open' ? await withoutNetwork() : undefined;
  const ways: [name: string, what: string, surroundings: Surroundings][] = [
    ...(order ? [['order', 'in another order', { order }] as [string, string, Surroundings]] : []),
    ...(date ? [['date', 'at a later date', { date }] as [string, string, Surroundings]] : []),
    ...(prefix ? [['network', 'without a network', { prefix }] as [string, string, Surroundings]] : []),
  ];
  let isReordered = false;
  for (const [name, how, surroundings] of ways) {
    const after = await grade(`gold, ${name}`, tree.patch, surroundings);
    // An old runner refuses the option for another order, and then reports no test at all.
    if (surroundings.order) isReordered = Object.keys(after.tests ?? {}).length > 0;
    const lost = tests.mustPass.filter((id) => after.tests?.[id] === 'failed');
    if (lost.length > 0)
      findings.push(finding('surroundings', task.id, { subject: name, what: lostIn(lost, how) }));
  }
  if (!isReordered) await playAlone(bench, findings);
}

const lostIn = (lost: readonly string[], how: string): string =>
  `${lost.slice(0, 3).join(', ')} ${lost.length === 1 ? 'fails' : 'fail'} ${how} on the solved tree.`;

/** Runs tests one by one where their runner knows no other order: one that needs another fails then. */
async function playAlone({ task, tree, options }: Bench, findings: Finding[]): Promise<void> {
  const { tests } = task.validation;
  const only = tests && onlyOne[tests.runner];
  if (!tests || !only || tree.patch === null || tests.mustPass.length < 2) return;
  const { options: stated, others: _, ...rest } = tests;
  const lost: string[] = [];
  for (const id of tests.mustPass.slice(0, ALONE)) {
    const chosen = only(id);
    if (!chosen) continue;
    const { arguments: given, files = tests.files } = chosen;
    const alone = { ...rest, files, options: [...stated, ...given], mustPass: [id] };
    const single = { ...task, validation: { ...task.validation, commands: [], tests: alone } };
    const name = `gold, only ${id}`;
    options.onStep?.(name);
    const grade = graderOf(options.room, single, { masking: undefined, signal: options.signal });
    const { tests: found } = await options.remember(name, () => grade(tree.patch));
    if (found?.[id] === 'failed') lost.push(id);
  }
  if (lost.length > 0) {
    const what = lostIn(lost, 'when it runs alone');
    findings.push(finding('surroundings', task.id, { subject: 'order', what }));
  }
}

type Chosen = { arguments: string[]; files?: string[] };

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** The arguments that let a runner run one test, by the id of the test. */
const onlyOne: Partial<Record<string, (id: string) => Chosen | undefined>> = {
  'node-test': (id) => {
    const [file, ...names] = id.split(' > ');
    return file === undefined || names.length !== 1
      ? undefined
      : { arguments: [`--test-name-pattern=/^${escaped(names[0] ?? '')}$/`], files: [file] };
  },
};
