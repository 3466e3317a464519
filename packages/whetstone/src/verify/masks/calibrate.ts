import type { TaskTests } from '../../config/config.ts';
import type { TestReport } from '../tests/test-runner.ts';
import { type MaskPlan, type MaskSlot, maskOf } from './exchange-twins.ts';
import { findTests, idMatcher } from './find-tests.ts';
import { maskedVerdict } from './masked-verdict.ts';
import type { FoundTest, Twin } from './twin.ts';

/** How many changes of a test are tried. */
const TRIES = 3;
/** Runs beyond the planned ones, for finding a twin that ends a run or keeps it from ending. */
const MOST_EXTRA_RUNS = 8;

/** Runs the tests of the solved tree, with other texts in the place of some test files. */
export type RunSolved = (texts: ReadonlyMap<string, string>) => Promise<TestReport>;

/** What calibration found. `problem`: why there is no slot. */
export type Calibration = { slots: MaskSlot[]; tests: number; runs: number; problem?: string | undefined };

/**
 * Finds on the solved tree which twins fail as they must. Those that pass, end the run or never end are dropped, and so are
 * those that disturb other tests.
 */
export async function calibrate(
  tests: TaskTests,
  texts: ReadonlyMap<string, string>,
  run: RunSolved,
): Promise<Calibration> {
  const { runner, mustPass } = tests;
  let runs = 0;
  const plan = (slots: MaskSlot[]): MaskPlan => ({ runner, slots, texts, rounds: 1, tests: 0 });
  const judge = async (slots: MaskSlot[], isTwin: boolean[]) => {
    const mask = await maskOf(plan(slots), isTwin);
    runs += 1;
    const report = await run(mask.texts);
    return { mask, report, ...maskedVerdict(plan(slots), tests, [{ mask, report }]) };
  };
  const none = (problem: string): Calibration => ({ slots: [], tests: 0, runs, problem });

  const plain = await judge([], []);
  if (plain.failure !== undefined) return none(`the solved tree with tests that must fail: ${plain.failure}`);
  if (plain.report.problems.length > 0) return none(plain.report.problems.join('; '));
  const passed = mustPass.filter((id) => plain.report.tests.get(id) === 'passed');
  // Of two tests with one id, the report does not say which has failed.
  const single = passed.filter((id) => (plain.report.counts?.get(id) ?? 1) === 1);
  const found = await slotsIn(tests, texts, single);

  let extra = 0;
  /** The slots of `tried` that fail as they must when all of them hold their twins. */
  const usable = async (tried: MaskSlot[]): Promise<MaskSlot[]> => {
    if (tried.length === 0) return [];
    const { report } = await judge(
      tried,
      tried.map(() => true),
    );
    const own = new Set(tried.flatMap(({ ids }) => ids));
    const isWhole =
      report.problems.length === 0 &&
      passed.every((id) => (own.has(id) ? report.tests.has(id) : report.tests.get(id) === 'passed'));
    if (isWhole) {
      return tried.flatMap((slot) => {
        const ids = slot.ids.filter((id) => report.tests.get(id) === 'failed');
        return ids.length === 0 ? [] : [{ ...slot, ids, free: slot.ids.filter((id) => !ids.includes(id)) }];
      });
    }
    if (tried.length === 1 || extra >= MOST_EXTRA_RUNS) return [];
    extra += 2;
    const half = Math.ceil(tried.length / 2);
    return [...(await usable(tried.slice(0, half))), ...(await usable(tried.slice(half)))];
  };
  let slots: MaskSlot[] = [];
  let open = found;
  for (let round = 0; round < TRIES && open.length > 0; round += 1) {
    const tried = open.flatMap(({ file, ids, twins }) => {
      const twin = twins[round];
      return twin ? [{ file, ids, free: [], twin }] : [];
    });
    const good = await usable(tried);
    slots = [...slots, ...good];
    open = open.filter((one) => !good.some((slot) => isSameTest(slot, one)));
  }
  slots.sort((a, b) => (a.file === b.file ? a.twin.from - b.twin.from : a.file < b.file ? -1 : 1));

  // Tests must not depend on whether their neighbours fail. Two masks that complement each other show it.
  for (let attempt = 0; attempt < 2 && slots.length > 0; attempt += 1) {
    const isTwin = slots.map((_, index) => index % 2 === 0);
    const pair = [
      await judge(slots, isTwin),
      await judge(
        slots,
        isTwin.map((one) => !one),
      ),
    ];
    const verdict = maskedVerdict(plan(slots), tests, pair);
    if (verdict.failure === undefined) return { slots, tests: found.length, runs };
    const disturbed = new Set(
      pair.flatMap(({ mask, report }) =>
        slots.flatMap(({ file, ids }, index) =>
          ids.some((id) => report.tests.get(id) !== (mask.isTwin[index] ? 'failed' : 'passed')) ? file : [],
        ),
      ),
    );
    if (disturbed.size === 0) return none(`masks on the solved tree: ${verdict.failure}`);
    slots = slots.filter(({ file }) => !disturbed.has(file));
  }
  return { slots, tests: found.length, runs };
}

type Candidate = { file: string; ids: string[]; twins: Twin[] };

const isSameTest = (slot: MaskSlot, { file, ids }: Candidate): boolean =>
  slot.file === file && [...slot.ids, ...slot.free].every((id) => ids.includes(id));

/** The tests of the files with their ids. An id belongs to the only test that could have it, first to one of exactly that name. */
async function slotsIn(
  { runner, directory }: TaskTests,
  texts: ReadonlyMap<string, string>,
  passed: readonly string[],
): Promise<Candidate[]> {
  const found: (Candidate & { isExact: boolean })[] = [];
  for (const [file, text] of texts) {
    for (const test of (await findTests(runner, file, text))?.tests ?? []) {
      const isOwn = idMatcher(runner, file, test.names, directory);
      const isExact = test.names.every((name) => typeof name === 'string');
      found.push({ file, ids: passed.filter(isOwn), twins: preferred(test), isExact });
    }
  }
  const count = (tests: readonly Candidate[]) => {
    const owners = new Map<string, number>();
    for (const id of tests.flatMap(({ ids }) => ids)) owners.set(id, (owners.get(id) ?? 0) + 1);
    return owners;
  };
  const [all, exact] = [count(found), count(found.filter(({ isExact }) => isExact))];
  const isOf = (test: (typeof found)[number], id: string) => (test.isExact ? exact : all).get(id) === 1;
  return found.flatMap(({ isExact, ...test }) => {
    const ids = test.ids.filter((id) => isExact || !exact.has(id));
    const isWhole = ids.length > 0 && ids.every((id) => isOf({ ...test, isExact }, id));
    return isWhole && test.twins.length > 0 ? [{ ...test, ids }] : [];
  });
}

/** Literals first, of different assertions where there are several, then the contrary of the last assertion. */
function preferred({ twins }: FoundTest): Twin[] {
  const literals = twins.filter(({ kind }) => kind === 'literal');
  const inverse = twins.filter(({ kind }) => kind === 'inverse');
  const some = [literals[0], literals.at(-1), literals[Math.floor(literals.length / 2)]];
  const distinct = [...new Set(some.flatMap((twin) => twin ?? []))];
  const last = inverse.at(-1);
  return last ? [...distinct.slice(0, TRIES - 1), last] : distinct;
}
