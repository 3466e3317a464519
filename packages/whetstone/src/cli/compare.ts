import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { readRun, rowsInOrder, type StoredRun } from '../record/read-run.ts';
import { compareRuns, type RunComparison, type Side } from '../report/compare-runs.ts';
import type { Gate } from '../report/gate.ts';
import { escapedJson } from '../report/json.ts';
import { renderComparison } from '../report/render-comparison.ts';
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
  options: { run: string; gate?: Gate; config?: string; json?: boolean },
  { stdout }: Streams,
): Promise<number> {
  const [ofA, ofB] = [await findSide(a, options), await findSide(b, options)];
  if (isSame(ofA, ofB)) {
    throw new WhetstoneError('arm-not-found', `${a} and ${b} are the same arms of the same run.`, {
      hint: 'Give two different runs or arms, for example: whetstone compare baseline with-agents-md',
    });
  }
  const comparison = compareRuns(ofA, ofB, options.gate);
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
  const of = await readRun(await locateRun(run, config));
  return sideOf(label, of, label);
}

/** `undefined` where no run is called so. */
async function tryRun(reference: string, config: string | undefined): Promise<StoredRun | undefined> {
  const directory = await locateRun(reference, config).catch((error: unknown) => {
    if (error instanceof WhetstoneError && error.code === 'run-not-found') return undefined;
    throw error;
  });
  return directory === undefined ? undefined : readRun(directory);
}

function sideOf(label: string, run: StoredRun, arm?: string): Side {
  const { manifest } = run;
  const side = { label, manifest, rows: rowsInOrder(run) };
  if (arm === undefined) return side;
  const agents = manifest.agents.map(({ name }) => name);
  const variants = manifest.variants.map(({ name }) => name);
  if (variants.includes(arm)) return { ...side, variant: arm };
  if (agents.includes(arm)) return { ...side, agent: arm };
  const agent = agents.find((name) => arm.startsWith(`${name}/`));
  const variant = variants.find((name) => name === arm.slice((agent?.length ?? 0) + 1));
  if (agent !== undefined && variant !== undefined) return { ...side, ...present({ agent, variant }) };
  throw new WhetstoneError(
    'arm-not-found',
    `There is no run ${label}, and run ${manifest.run_id} has no arm ${arm}.`,
    {
      hint: `Its variants: ${variants.join(', ')}. Its agents: ${agents.join(', ')}. Runs: whetstone runs`,
    },
  );
}

const isSame = (a: Side, b: Side): boolean =>
  a.manifest.run_id === b.manifest.run_id && a.agent === b.agent && a.variant === b.variant;

function requirePairs({ pairs, a, b, excluded_tasks: excluded }: RunComparison): void {
  if (pairs.length === 0) {
    throw new WhetstoneError('arm-not-found', `No arm of ${b.label} has a counterpart in ${a.label}.`, {
      hint: 'Name one arm of each side: RUN:VARIANT, RUN:AGENT or RUN:AGENT/VARIANT.',
    });
  }
  if (pairs.every(({ comparison }) => comparison.tasks === 0) && excluded.length > 0) {
    throw new WhetstoneError('arm-not-found', `${a.label} and ${b.label} have no task in common.`, {
      hint: 'Tasks are the same only with the same id, content and commit. Run both sides on the same tasks.',
    });
  }
}
