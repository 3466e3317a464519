import { totalmem } from 'node:os';
import { WhetstoneError } from '@whetstone/errors';
import { launcherControlGroups, makesNamespaces } from '../process/launcher.ts';
import { enforceable, type Limits, makeGroup, type ResourceGroup } from '../process/resource-group.ts';

/** Far above what work needs, and below what harms the machine. CPU time has none: a case has a time limit. */
const DEFAULTS: Limits = { memoryBytes: Math.floor(totalmem() * 0.75), processes: 4096 };

/**
 * The limits of each sandbox: those that are stated, and defaults where they are enforced. `enforced`: which of them are; by
 * default, those that this machine enforces.
 * @throws WhetstoneError `sandbox-unavailable` if one that is stated is not enforced
 */
export function limitsOf(stated: Limits = {}, enforced = enforcedHere): Limits {
  const limits = enforced({ ...DEFAULTS, ...stated });
  const missing = (Object.keys(stated) as (keyof Limits)[]).filter((name) => limits[name] === undefined);
  if (missing.length === 0) return limits;
  const names = missing.map((name) => NAMES[name]).join(', ');
  throw new WhetstoneError('sandbox-unavailable', `This machine does not let Whetstone limit ${names}.`, {
    hint: 'It needs Linux, Perl and the right to make control groups: root, or a systemd service with Delegate=yes.',
  });
}

/** Programs enter their groups through the launcher that makes namespaces. */
const enforcedHere = (limits: Limits): Limits => (makesNamespaces ? enforceable(limits) : {});

/** A group for the commands of one sandbox. `undefined`: they enter none here. */
export function groupWith(limits: Limits): ResourceGroup | undefined {
  const groups = makesNamespaces ? launcherControlGroups() : undefined;
  return groups && makeGroup(limits, groups);
}

const NAMES: Record<keyof Limits, string> = { memoryBytes: 'memory', processes: 'processes', cpus: 'CPUs' };
