import { present } from '@whetstone/events/present';
import { z } from 'zod';
import type { TaskTests } from './config.ts';
import { readNamedText } from './existing-path.ts';
import type { RawTask, TestRunnerName } from './schema.ts';
import type { Spot } from './spot.ts';

type RawTests = NonNullable<NonNullable<RawTask['validation']>['tests']>;

/** The runners whose tests can be masked: those whose languages Whetstone parses. */
export const isMaskable = (runner: TestRunnerName): boolean =>
  runner !== 'go-test' && runner !== 'cargo-test';

/** The runners that read settings of the tree, which Whetstone can replace by its own. */
const hasSettings = (runner: TestRunnerName): boolean =>
  ['vitest', 'jest', 'mocha', 'pytest'].includes(runner);

const idList = z.array(z.string());

/** The tests of a task. Ids stand there, or in a JSON file that is named. */
export async function readTests(
  { mustPass: given, others: allowed, directory, settings, masks, ...tests }: RawTests,
  spot: Spot,
  has: { hidden_tests: boolean; gold_patch: boolean },
): Promise<TaskTests | undefined> {
  if (masks != null && masks !== 'off') {
    const lacking = (['hidden_tests', 'gold_patch'] as const).filter((key) => !has[key]);
    if (!isMaskable(tests.runner))
      spot.at('masks').error(`tests of ${tests.runner} cannot be masked: leave it out`);
    else if (lacking.length > 0)
      spot
        .at('masks')
        .error(
          `needs ${lacking.join(' and ')}: masks change hidden tests, and try the changes on the solved tree`,
        );
  }
  if (settings === 'own' && !hasSettings(tests.runner))
    spot.at('settings').error(`${tests.runner} reads no settings that could be replaced: leave it out`);
  const mustPass = given == null ? [] : await idsOf(given, spot.at('must_pass'), { fewest: 1 });
  const others = allowed == null ? undefined : await idsOf(allowed, spot.at('others'), { fewest: 0 });
  const more = { others, directory, settings: settings ?? undefined, masks: masks ?? undefined };
  return mustPass && { ...tests, mustPass, ...present(more) };
}

async function idsOf(
  given: string | string[],
  spot: Spot,
  { fewest }: { fewest: number },
): Promise<string[] | undefined> {
  if (typeof given !== 'string') return given;
  const source = await readNamedText(given, spot);
  if (!source) return undefined;
  const parsed = idList.min(fewest).safeParse(parsedJson(source.text));
  const what = fewest === 0 ? 'test ids' : 'at least one test id';
  if (!parsed.success) spot.error(`is not a JSON list of ${what}: ${source.file}`);
  return parsed.data;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
