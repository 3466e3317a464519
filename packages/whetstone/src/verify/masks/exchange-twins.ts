import { randomBytes, randomInt } from 'node:crypto';
import type { TestRunnerName } from '../../config/schema.ts';
import { findTests } from './find-tests.ts';
import type { Twin } from './twin.ts';

/** A test whose true version and whose twin are exchanged by a secret coin. */
export type MaskSlot = {
  /** The file of the test, relative to the root of the tree. */
  file: string;
  /** The ids that fail with the twin on the solved tree, at least one. A table has one for each of its rows. */
  ids: string[];
  /** Further ids of the same test. With the twin their results do not count. */
  free: string[];
  twin: Twin;
};

/** What the clean room needs to mask the tests of a task. */
export type MaskPlan = {
  runner: TestRunnerName;
  slots: readonly MaskSlot[];
  /** The texts of the files with slots, by their paths. */
  texts: ReadonlyMap<string, string>;
  /** Pairs of runs, each with coins of its own. */
  rounds: number;
  /** How many tests of the files could have had a twin. */
  tests: number;
};

/** Tests that must fail. The message of each has its nonce. */
export type Sentinel = { name: string; nonce: string };

/** The test files of one run: whether each slot holds its twin, and what was added. Nothing but this process knows it. */
export type Mask = { isTwin: readonly boolean[]; texts: ReadonlyMap<string, string>; sentinels: Sentinel[] };

/** Whether a coin shows its head. Only tests give another one than that of the system. */
export type Coin = () => boolean;
export const secretCoin: Coin = () => randomInt(2) === 1;

/** Two masks: what is true in one is a twin in the other. */
export async function maskPair(plan: MaskPlan, coin: Coin = secretCoin): Promise<[Mask, Mask]> {
  const isTwin = plan.slots.map(() => coin());
  return [
    await maskOf(plan, isTwin),
    await maskOf(
      plan,
      isTwin.map((one) => !one),
    ),
  ];
}

const SENTINELS_PER_FILE = 3;

/** Writes the test files for one vector of coins. */
export async function maskOf(plan: MaskPlan, isTwin: readonly boolean[]): Promise<Mask> {
  const texts = new Map<string, string>();
  const sentinels: Sentinel[] = [];
  for (const [file, text] of plan.texts) {
    const edits = plan.slots
      .map(({ twin, file: of }, index) => ({ ...twin, of, text: isTwin[index] ? twin.instead : twin.same }))
      .filter(({ of }) => of === file)
      .sort((a, b) => b.from - a.from);
    let masked = text;
    for (const edit of edits) masked = masked.slice(0, edit.from) + edit.text + masked.slice(edit.to);
    const { sentinels: added = [], text: withThem } = await withSentinels(plan.runner, file, masked, text);
    sentinels.push(...added);
    texts.set(file, withThem);
  }
  return { isTwin, texts, sentinels };
}

/** `text` with tests that must fail at its end. They have the form of those in `original`. */
async function withSentinels(runner: TestRunnerName, file: string, text: string, original: string) {
  const found = await findTests(runner, file, original);
  const words = Array.from({ length: 2 * SENTINELS_PER_FILE }, () => `s${randomBytes(8).toString('hex')}`);
  const nonces = words.slice(SENTINELS_PER_FILE);
  const made = found?.sentinels(words.slice(0, SENTINELS_PER_FILE), nonces) ?? { names: [], text: '' };
  const sentinels = made.names.map((name, index) => ({ name, nonce: nonces[index] ?? '' }));
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return { sentinels, text: made.text === '' ? text : `${text}${end}${made.text}\n` };
}
