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

const idList = z.array(z.string());

/** The tests of a task. Ids stand there, or in a JSON file that is named. */
export async function readTests(
  { mustPass: given, others: allowed, directory, masks, ...tests }: RawTests,
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
  const mustPass = given == null ? [] : await idsOf(given, spot.at('must_pass'), { fewest: 1 });
  const others = allowed == null ? undefined : await idsOf(allowed, spot.at('others'), { fewest: 0 });
  return mustPass && { ...tests, mustPass, ...present({ others, directory, masks: masks ?? undefined }) };
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
