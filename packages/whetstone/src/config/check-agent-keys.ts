import { driverOptions, isDrivenKind, loopOptions, loopProfiles } from '@whetstone/agents/config';
import { isMapping } from './check-shape.ts';
import type { Reporter } from './reporter.ts';
import type { RawAgent } from './schema.ts';
import type { YamlPath } from './yaml-source.ts';

const LOOP_KEYS = Object.keys(loopOptions.shape);
const DRIVER_KEYS = Object.keys(driverOptions.shape);

/** Reports keys that do not apply to the agent's kind, and keys that the kind requires. */
export function checkKindKeys(
  fields: Partial<RawAgent>,
  raw: unknown,
  path: YamlPath,
  report: Reporter,
): void {
  const given = (key: string) => isMapping(raw) && (raw[key] ?? undefined) !== undefined;
  if (given('resume_command') && !given('command')) {
    report.error([...path, 'resume_command'], 'only applies to agents with a command', {
      hint: 'remove it, or add the command of the first turn',
      mark: 'key',
    });
  }
  if (fields.kind === 'loop') {
    for (const key of ['command', 'module']) {
      if (!given(key)) continue;
      report.error([...path, key], `kind: loop runs in process and does not take a ${key}`, {
        hint: 'remove it, or choose another kind',
        mark: 'key',
      });
    }
    if (!given('profile')) {
      report.error([...path, 'profile'], 'is required for kind: loop', {
        hint: `one of: ${loopProfiles.join(', ')}`,
      });
    }
    refuseContext(given, path, report);
    refuseCollector(fields, 'kind: loop', path, report);
    return;
  }
  if (given('module')) checkModuleKeys(fields, given, path, report);
  else if (fields.kind && !given('command') && !isDrivenKind(fields.kind))
    report.error([...path, 'command'], 'is required');
  const isDriven = fields.kind != null && isDrivenKind(fields.kind) && !given('command');
  const allowed: readonly string[] = isDriven ? DRIVER_KEYS : given('module') ? ['model'] : [];
  for (const key of new Set([...LOOP_KEYS, ...DRIVER_KEYS])) {
    if (!fields.kind || !given(key) || allowed.includes(key)) continue;
    report.error([...path, key], `only applies to ${ownersOf(key)}`, {
      hint: given('command') ? 'name the model in the command itself' : undefined,
      mark: 'key',
    });
  }
  if (isDriven) refuseContext(given, path, report);
  if (isDriven) refuseCollector(fields, 'an agent that Whetstone drives', path, report);
}

function checkModuleKeys(
  fields: Partial<RawAgent>,
  given: (key: string) => boolean,
  path: YamlPath,
  report: Reporter,
): void {
  if (fields.kind && fields.kind !== 'custom') {
    report.error([...path, 'module'], 'only applies to kind: custom', {
      hint: 'use kind: custom',
      mark: 'key',
    });
  }
  if (given('command')) {
    report.error([...path, 'command'], 'an agent has either a command or a module, not both', {
      hint: 'keep one of them',
      mark: 'key',
    });
  }
  refuseCollector(fields, 'a module', path, report);
}

function refuseContext(given: (key: string) => boolean, path: YamlPath, report: Reporter): void {
  if (!given('context')) return;
  report.error([...path, 'context'], 'only applies to agents with a command or a module', {
    hint: 'remove it: Whetstone knows where this agent looks',
    mark: 'key',
  });
}

function refuseCollector(fields: Partial<RawAgent>, what: string, path: YamlPath, report: Reporter): void {
  if ((fields.telemetry?.collector ?? 'none') === 'none') return;
  report.error(
    [...path, 'telemetry', 'collector'],
    `${what} reports its own events, so it does not need a collector`,
    { hint: 'remove telemetry' },
  );
}

function ownersOf(key: string): string {
  const owners = [
    ...(LOOP_KEYS.includes(key) ? ['kind: loop'] : []),
    ...(DRIVER_KEYS.includes(key) ? ['agents that Whetstone drives itself'] : []),
  ];
  return owners.join(' and to ');
}
