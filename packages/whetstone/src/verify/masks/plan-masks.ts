import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '@whetstone/agents/cache-folder';
import { WhetstoneError } from '@whetstone/errors';
import { z } from 'zod';
import type { EnvironmentConfig, TaskConfig, TaskTests } from '../../config/config.ts';
import { isMaskable } from '../../config/read-tests.ts';
import { listSource } from '../../config/source-tree.ts';
import type { Snapshot } from '../../workspace/workspace.ts';
import type { Verification } from '../verify.ts';
import { type Calibration, calibrate } from './calibrate.ts';
import type { MaskPlan, MaskSlot } from './exchange-twins.ts';
import { findTests } from './find-tests.ts';
import type { Twin } from './twin.ts';

/** So many twins have to fail as they must before masks are used where the task does not ask for them. */
export const FEWEST_TWINS = 6;

/** Changes whenever twins are made in another way. */
const VERSION = 5;

/** In seconds: the least limit of a run with twins, and how often the time of the run without them. */
const SHORTEST_LIMIT = 30;
const LONGEST_RATIO = 10;

/** How the tests of a task are masked, or why they are not, in a sentence. */
export type MaskingOfTask = { plan: MaskPlan } | { why: string };

/** Judges the solved tree with other texts of test files, in at most `seconds`. */
export type JudgeSolved = (
  texts: ReadonlyMap<string, string>,
  goldPatch: string,
  seconds: number | undefined,
) => Promise<Verification>;

/** Names the tree that a task starts from, and its environment: what calibration found is used again for the same. */
export const startKey = (
  { sealedCommit }: Pick<Snapshot, 'sealedCommit'>,
  environment: EnvironmentConfig | undefined,
): string => `${sealedCommit} ${JSON.stringify(environment?.prepare.length ? environment : null)}`;

/**
 * Decides how the tests of a task are masked, and which twins serve. What calibration found is kept in the cache folder. `start`:
 * the `startKey` of the task.
 * @throws WhetstoneError `masks-unusable`: the task asks for masks, and none of its tests has a twin that serves.
 */
export async function planMasks(
  task: TaskConfig,
  { start, judge }: { start: string; judge: JudgeSolved },
): Promise<MaskingOfTask> {
  const { tests } = task.validation;
  const asked = tests?.masks;
  if (!tests || asked === 'off') return { why: 'masks are off' };
  const missing = lackingFor(task, tests);
  if (missing !== undefined) return unusable(task, missing);
  const texts = await hiddenTexts(task, tests);
  const found = await Promise.all(
    [...texts].map(async ([file, text]) => ({
      file,
      all: (await findTests(tests.runner, file, text))?.tests ?? [],
    })),
  );
  const possible = found.flatMap(({ all }) => all).filter(({ twins }) => twins.length > 0).length;
  if (possible < (asked === undefined ? FEWEST_TWINS : 1)) return unusable(task, fewTwins(possible));
  const goldPatch = await readFile(task.goldPatch ?? '', 'latin1');
  const key = [VERSION, tests, [...texts], goldPatch, start, task.setup, process.version];
  // Only what can be found in the tests themselves is taken from a file that others may have written.
  const isOwn = ({ file, twin }: MaskSlot) =>
    found.some(
      (one) => one.file === file && one.all.some(({ twins }) => twins.some((own) => isSame(own, twin))),
    );
  const { slots, problem, ...calibration } = await kept(key, isOwn, () => {
    let seconds = task.validation.timeoutSeconds;
    return calibrate(tests, texts, async (changed) => {
      const before = performance.now();
      const verification = await judge(changed, goldPatch, seconds);
      const took = (performance.now() - before) / 1000;
      seconds ??= Math.max(SHORTEST_LIMIT, Math.ceil(LONGEST_RATIO * took));
      const why = verification.broken?.evidence ?? verification.failure ?? 'the tests did not run';
      return verification.tests ?? { tests: new Map(), problems: [why] };
    });
  });
  if (slots.length === 0 || (asked === undefined && slots.length < FEWEST_TWINS))
    return unusable(task, problem ?? fewTwins(slots.length));
  const enough = Math.ceil(FEWEST_TWINS / slots.length);
  const rounds = typeof asked === 'number' ? asked : Math.max(1, enough);
  const used = new Map([...texts].filter(([file]) => slots.some((slot) => slot.file === file)));
  return { plan: { runner: tests.runner, slots, texts: used, rounds, tests: calibration.tests } };
}

const fewTwins = (count: number): string =>
  count === 1
    ? '1 test has a changed expectation that fails as it must'
    : `${count} tests have a changed expectation that fails as it must`;

/** What masks need and a task does not have. */
function lackingFor(task: TaskConfig, { runner }: TaskTests): string | undefined {
  if (!isMaskable(runner)) return `tests of ${runner} cannot be masked`;
  if (task.hiddenTests === undefined) return 'its tests are not hidden';
  if (task.goldPatch === undefined) return 'no gold_patch shows which changed expectations fail';
  return undefined;
}

/** A task that asks for masks is not judged without them. */
function unusable(task: TaskConfig, why: string): MaskingOfTask {
  if (task.validation.tests?.masks === undefined) return { why };
  throw new WhetstoneError('masks-unusable', `The tests of task ${task.id} cannot be masked: ${why}.`);
}

/** The texts of the hidden files that the tests run, by path. A file that is not UTF-8 is left as it is. */
async function hiddenTexts(task: TaskConfig, { files }: TaskTests): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const entry of task.hiddenTests === undefined ? [] : await listSource(task.hiddenTests)) {
    const isRun = files.some((file) => entry.path === file || entry.path.startsWith(`${file}/`));
    if (entry.kind !== 'file' || !isRun) continue;
    const content = await readFile(entry.absolute);
    const text = content.toString();
    if (Buffer.from(text).equals(content)) texts.set(entry.path, text);
  }
  return texts;
}

const calibrationSchema = z.object({
  slots: z.array(
    z.object({
      file: z.string(),
      ids: z.array(z.string()).min(1),
      free: z.array(z.string()),
      twin: z.object({
        kind: z.enum(['literal', 'inverse']),
        from: z.number(),
        to: z.number(),
        same: z.string(),
        instead: z.string(),
      }),
    }),
  ),
  tests: z.number(),
  runs: z.number(),
  problem: z.string().optional(),
});

const isSame = (one: Twin, other: Twin): boolean =>
  (['kind', 'from', 'to', 'same', 'instead'] as const).every((key) => one[key] === other[key]);

/** What an earlier calibration of the same found, if all its slots are accepted, else what `find` finds. */
async function kept(
  key: unknown,
  accepts: (slot: MaskSlot) => boolean,
  find: () => Promise<Calibration>,
): Promise<Calibration> {
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex');
  const folder = join(cacheFolder(), 'masks');
  const file = join(folder, `${name}.json`);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const known = text === undefined ? undefined : calibrationSchema.safeParse(parsed(text)).data;
  if (known?.slots.every(accepts)) return known;
  const found = await find();
  // What went wrong may not do so again.
  if (found.problem !== undefined) return found;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(temporary, JSON.stringify(found), { mode: 0o600 });
  await rename(temporary, file);
  return found;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
