import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { readRun, type StoredRun } from '../record/read-run.ts';
import { compareRuns, type Side } from '../report/compare-runs.ts';
import type { Gate } from '../report/gate.ts';
import { escapedJson } from '../report/json.ts';
import { renderComparison } from '../report/render-comparison.ts';
import { requirePairs, requireTwoSides, sideOf } from '../report/side-of.ts';
import { locateRun } from './report.ts';
import type { Streams } from './streams.ts';
import { terminalColors, terminalWidth } from './terminal-features.ts';

/** The exit code of a gate that the results neither pass nor fail. */
export const GATE_INCONCLUSIVE = 4;

/**
 * Compares B with A: two runs, or arms of runs. Exit code 0, and with a gate 1 where it failed and 4 where the results
 * cannot tell.
 */
export async function compareCommand(
  a: string,
  b: string,
  options: { run: string; gate?: Gate; passWorth?: number; config?: string; json?: boolean },
  { stdout }: Streams,
): Promise<number> {
  const [ofA, ofB] = [await findSide(a, options), await findSide(b, options)];
  requireTwoSides(ofA, ofB);
  const comparison = compareRuns(ofA, ofB, present({ gate: options.gate, passWorth: options.passWorth }));
  requirePairs(comparison);
  const view = { colors: terminalColors(stdout), width: terminalWidth(stdout) };
  stdout.write(options.json ? escapedJson(comparison) : `${renderComparison(comparison, view)}\n`);
  return { passed: 0, failed: 1, inconclusive: GATE_INCONCLUSIVE }[comparison.gate?.status ?? 'passed'];
}

/**
 * What a user means: a run, `RUN:ARM`, or an arm of `--run`. An arm is a variant, an agent, or `AGENT/VARIANT`.
 * @throws WhetstoneError `run-not-found`, `arm-not-found`.
 */
async function findSide(label: string, { run, config }: { run: string; config?: string }): Promise<Side> {
  const whole = await tryRun(label, config);
  if (whole) return sideOf(label, whole);
  const colon = label.lastIndexOf(':');
  if (colon > 0) {
    const of = await readRun(await locateRun(label.slice(0, colon), config));
    return sideOf(label, of, label.slice(colon + 1));
  }
  const directory = await locateRun(run, config).catch((error: unknown) => {
    // Nobody asked for the latest run: what is missing is the one that was named.
    if (run === 'latest' && isMissing(error)) return locateRun(label, config);
    throw error;
  });
  return sideOf(label, await readRun(directory), label);
}

/** `undefined` where no run is called so. */
async function tryRun(reference: string, config: string | undefined): Promise<StoredRun | undefined> {
  const directory = await locateRun(reference, config).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  return directory === undefined ? undefined : readRun(directory);
}

const isMissing = (error: unknown): boolean =>
  error instanceof WhetstoneError && error.code === 'run-not-found';
