import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../../audit/at-once.ts';
import type { ProcessAttack } from '../../testkit/attacks/node-process-attacks.ts';
import { processAttacks } from '../../testkit/attacks/process-attacks.ts';
import { openMaskedRoom } from '../__fixtures__/masked-room.ts';
import { type Runner, SUMS, sumProject, TESTS } from '../__fixtures__/sum-project.ts';
import { problemOf } from '../tests/run-tests.ts';
import type { TestReport } from '../tests/test-runner.ts';
import { type MaskPlan, maskPair } from './exchange-twins.ts';
import { maskedVerdict } from './masked-verdict.ts';

/** The same masks in other folders. */
function inFolders(plan: MaskPlan, folders: readonly string[]): MaskPlan {
  const moved = (folder: string, text: string) => text.replace(/^first\//, `${folder}/`);
  return {
    ...plan,
    slots: folders.flatMap((folder) =>
      plan.slots.map((slot) => ({
        ...slot,
        file: moved(folder, slot.file),
        ids: slot.ids.map((id) => moved(folder, id)),
      })),
    ),
    texts: new Map(
      folders.flatMap((folder) => [...plan.texts].map(([file, text]) => [moved(folder, file), text])),
    ),
  };
}

const ofFolder = (report: TestReport, folder: string): TestReport => ({
  ...report,
  tests: new Map([...report.tests].filter(([id]) => id.startsWith(`${folder}/`))),
});

type Played = { report: string[]; masks: string[]; called: string[] };

/** Plays attacks in one run of the tests for each verdict; each has a folder, and its tests a process or a realm of their own. */
async function playAtOnce(runner: Runner, attacks: readonly ProcessAttack[]): Promise<Played> {
  const folders = ['right', ...attacks.map(({ name }) => name)];
  const [first, room] = await Promise.all([
    sumProject(runner, ['first']).then(openMaskedRoom),
    sumProject(runner, folders).then((project) => openMaskedRoom({ ...project, masks: 'off' })),
  ]);
  await using _ = first;
  await using __ = room;
  if (!('plan' in first.masking)) throw new Error(first.masking.why);
  expect(first.masking.plan.slots).toHaveLength(TESTS);
  const plan = inFolders(first.masking.plan, folders);
  const sources = attacks.map(({ name, code }) => [SUMS[runner](name).source, `${code}\n`]);
  const { source, right } = SUMS[runner]('right');
  const files = { [source]: right, ...Object.fromEntries(sources) };
  const masks = await maskPair(plan);
  const [plain, ...reports] = await Promise.all(
    [plan.texts, ...masks.map(({ texts }) => texts)].map((texts) => room.reportOf(files, texts)),
  );
  const played: Played = { report: [], masks: [], called: [] };
  for (const folder of folders) {
    const isOwn = ({ file }: { file: string }) => file.startsWith(`${folder}/`);
    const own = { ...plan, slots: plan.slots.filter(isOwn) };
    const expected = { mustPass: own.slots.flatMap(({ ids }) => ids), others: [] };
    if (plain && problemOf(expected, { ...ofFolder(plain, folder), problems: [] }) === undefined)
      played.report.push(folder);
    const runs = masks.flatMap((mask, index) => {
      const report = reports[index];
      if (!report) return [];
      const isTwin = mask.isTwin.filter((_, slot) => isOwn(plan.slots[slot] ?? { file: '' }));
      const text = mask.texts.get(SUMS[runner](folder).test);
      const sentinels = mask.sentinels.filter(({ name }) => text?.includes(name));
      return [
        { report: { ...ofFolder(report, folder), problems: [] }, mask: { ...mask, isTwin, sentinels } },
      ];
    });
    const { failure, isCheating } = maskedVerdict(own, expected, runs);
    if (failure === undefined) played.masks.push(folder);
    if (isCheating) played.called.push(folder);
  }
  return played;
}

/** Plays each attack in processes of its own. They wait for files and processes more than for the processor. */
async function playAlone(runner: Runner, attacks: readonly ProcessAttack[]): Promise<Played> {
  await using room = await openMaskedRoom(await sumProject(runner, ['first']));
  if (!('plan' in room.masking)) throw new Error(room.masking.why);
  const { plan } = room.masking;
  expect(plan.slots).toHaveLength(TESTS);
  const { source, right } = SUMS[runner]('first');
  const played: Played = { report: [], masks: [], called: [] };
  const found = await atOnce([{ name: 'right', code: right }, ...attacks], 4, async ({ name, code }) => {
    const masks = await maskPair(plan);
    const [plain, ...reports] = await Promise.all(
      [new Map(), ...masks.map(({ texts }) => texts)].map((texts) =>
        room.reportOf({ [source]: `${code}\n` }, texts),
      ),
    );
    const runs = masks.flatMap((mask, index) => (reports[index] ? [{ mask, report: reports[index] }] : []));
    return { name, plain, ...maskedVerdict(plan, room.task.validation.tests ?? { mustPass: [] }, runs) };
  });
  for (const { name, plain, failure, isCheating } of found) {
    if (plain && problemOf(room.task.validation.tests ?? { mustPass: [] }, plain) === undefined)
      played.report.push(name);
    if (failure === undefined) played.masks.push(name);
    if (isCheating) played.called.push(name);
  }
  return played;
}

/** In Jest, the tests of several files share a process, which these end. */
const endsProcess = ({ name, runner }: ProcessAttack): boolean =>
  runner === 'jest' && /^(exits|rewrites-file)/.test(name);
const PLAYED_ALONE: readonly Runner[] = ['mocha', 'pytest', 'unittest'];

const fooling = (attacks: readonly ProcessAttack[], verdict: ProcessAttack['fools'][number]) =>
  ['right', ...attacks.filter(({ fools }) => fools.includes(verdict)).map(({ name }) => name)].sort();

const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0;

describe.concurrent.each(['node-test', 'vitest', 'jest', 'mocha', 'pytest', 'unittest'] as const)(
  '%s',
  (runner) => {
    const isPython = runner === 'pytest' || runner === 'unittest';
    test.skipIf(isPython && !hasPytest)(
      'only the attacks that say so pass, and the right code does',
      { timeout: 900_000, tags: isPython ? 'pytest' : [] },
      async ({ expect }) => {
        const attacks = processAttacks.filter((one) => one.runner === runner);
        const alone = attacks.filter((one) => PLAYED_ALONE.includes(runner) || endsProcess(one));
        const played = await Promise.all([
          ...(alone.length > 0 ? [playAlone(runner, alone)] : []),
          ...(alone.length < attacks.length
            ? [
                playAtOnce(
                  runner,
                  attacks.filter((one) => !alone.includes(one)),
                ),
              ]
            : []),
        ]);
        const of = (verdict: keyof Played) => [...new Set(played.flatMap((one) => one[verdict]))].sort();
        expect(of('report')).toEqual(fooling(attacks, 'report'));
        expect(of('masks')).toEqual(fooling(attacks, 'masks'));
        expect(of('called')).not.toContain('right');
      },
    );
  },
);
