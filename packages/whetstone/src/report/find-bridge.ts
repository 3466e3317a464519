import type { Manifest } from '../record/manifest.ts';
import type { ArmCases, ArmPair } from './task-differences.ts';

/** A run with all of its arms. */
export type RunArms = { manifest: Manifest; arms: readonly ArmCases[] };

/**
 * The bridge between an arm that was saved in one run and an arm of another run: the saved arm, run again in that other run.
 * `undefined` within one run, and where the other run has no such arm or the arm has changed since.
 */
export function findBridge(saved: ArmCases, now: ArmCases, a: RunArms, b: RunArms): ArmPair['bridge'] {
  if (a.manifest.run_id === b.manifest.run_id || !isUnchanged(saved, a.manifest, b.manifest))
    return undefined;
  const again = b.arms.find(({ arm }) => arm.agent === saved.arm.agent && arm.variant === saved.arm.variant);
  if (!again || isSameArm(again, now)) return undefined;
  return { now: again, saved };
}

const isSameArm = (one: ArmCases, other: ArmCases): boolean =>
  one.arm.agent === other.arm.agent && one.arm.variant === other.arm.variant;

/** Whether the agent and the variant of an arm are the same in both runs, by content. */
export function isUnchanged({ arm }: Pick<ArmCases, 'arm'>, a: Manifest, b: Manifest): boolean {
  const agentOf = ({ agents }: Manifest) => agents.find(({ name }) => name === arm.agent)?.fingerprint;
  const variantOf = ({ variants }: Manifest) =>
    variants.find(({ name }) => name === arm.variant)?.fingerprint;
  return (
    agentOf(a) !== undefined &&
    agentOf(a) === agentOf(b) &&
    variantOf(a) !== undefined &&
    variantOf(a) === variantOf(b)
  );
}
