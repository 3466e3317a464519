import { driverOptions, isDrivenKind, loopOptions, loopProfiles } from '@whetstone/agents/config';
import { isGiven } from './check-shape.ts';
import type { RawAgent } from './schema.ts';
import type { Spot } from './spot.ts';

const LOOP_KEYS = Object.keys(loopOptions.shape);
const DRIVER_KEYS = Object.keys(driverOptions.shape);

/** Reports keys that do not apply to the agent's kind, and keys that the kind requires. */
export function checkKindKeys(fields: Partial<RawAgent>, raw: unknown, spot: Spot): void {
  const { kind } = fields;
  const given = (key: string) => isGiven(raw, key);
  const isDriven = kind != null && isDrivenKind(kind) && !given('command');
  const refuse = (key: string, message: string, hint?: string) => {
    if (given(key)) spot.at(key).error(message, { hint, mark: 'key' });
  };
  const refuseCollector = (what: string) => {
    if ((fields.telemetry?.collector ?? 'none') === 'none') return;
    const message = `${what} reports its own events, so it does not need a collector`;
    spot.at('telemetry', 'collector').error(message, { hint: 'remove telemetry' });
  };

  if (!given('command')) {
    const hint = 'remove it, or add the command of the first turn';
    refuse('resume_command', 'only applies to agents with a command', hint);
  }
  if (kind === 'loop' || isDriven) {
    const hint = 'remove it: Whetstone knows where this agent looks';
    refuse('context', 'only applies to agents with a command or a module', hint);
    refuseCollector(isDriven ? 'an agent that Whetstone drives' : 'kind: loop');
  }
  if (kind === 'loop') {
    for (const key of ['command', 'module']) {
      const message = `kind: loop runs in process and does not take a ${key}`;
      refuse(key, message, 'remove it, or choose another kind');
    }
    if (!given('profile')) {
      const hint = `one of: ${loopProfiles.join(', ')}`;
      spot.at('profile').error('is required for kind: loop', { hint });
    }
    return;
  }
  if (given('module')) {
    if (kind && kind !== 'custom') refuse('module', 'only applies to kind: custom', 'use kind: custom');
    refuse('command', 'an agent has either a command or a module, not both', 'keep one of them');
    refuseCollector('a module');
  } else if (kind && !given('command') && !isDriven) {
    spot.at('command').error('is required');
  }
  if (!kind) return;
  const allowed: readonly string[] = isDriven ? DRIVER_KEYS : given('module') ? ['model'] : [];
  const hint = given('command') ? 'name the model in the command itself' : undefined;
  for (const key of new Set([...LOOP_KEYS, ...DRIVER_KEYS])) {
    if (!allowed.includes(key)) refuse(key, `only applies to ${ownersOf(key)}`, hint);
  }
}

function ownersOf(key: string): string {
  const owners = [
    ...(LOOP_KEYS.includes(key) ? ['kind: loop'] : []),
    ...(DRIVER_KEYS.includes(key) ? ['agents that Whetstone drives itself'] : []),
  ];
  return owners.join(' and to ');
}
