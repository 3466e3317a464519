import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { rowsInOrder, type StoredRun } from '../record/read-run.ts';
import type { Side } from './compare-runs.ts';
import type { RunComparison } from './run-comparison.ts';

/**
 * A side of a comparison: a run, or the arms of it that `arm` names. An arm is a variant, an agent, or `AGENT/VARIANT`.
 * @throws WhetstoneError `arm-not-found`
 */
export function sideOf(label: string, run: StoredRun, arm?: string): Side {
  const { manifest } = run;
  const side = { label, manifest, rows: rowsInOrder(run), ...present({ audits: run.audits }) };
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

/** @throws WhetstoneError `arm-not-found` where both sides are the same arms of the same run */
export function requireTwoSides(a: Side, b: Side): void {
  const isSame = a.manifest.run_id === b.manifest.run_id && a.agent === b.agent && a.variant === b.variant;
  if (!isSame) return;
  throw new WhetstoneError('arm-not-found', `${a.label} and ${b.label} are the same arms of the same run.`, {
    hint: 'Give two different runs or arms, for example: whetstone compare baseline with-agents-md',
  });
}

/** @throws WhetstoneError `arm-not-found` where nothing of one side can be compared with anything of the other */
export function requirePairs({ pairs, a, b, excluded_tasks: excluded }: RunComparison): void {
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
