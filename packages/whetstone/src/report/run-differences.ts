import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';

/** One thing that is not the same in both runs; `null` where a run does not know it. */
export type RunDifference = { what: string; a: string | null; b: string | null };

type Run = { manifest: Manifest; rows: readonly CaseRow[] };

/**
 * What differs between two runs beside their tasks, so that a reader sees what else a difference can come from. An agent or a
 * variant that only one of them has is not compared, and not listed here.
 */
export function runDifferences(a: Run, b: Run): RunDifference[] {
  if (a.manifest.run_id === b.manifest.run_id) return [];
  const [ofA, ofB] = [factsOf(a), factsOf(b)];
  return [...ofA].flatMap(([what, inA]) => {
    const inB = ofB.get(what);
    return inB === undefined || inA === inB ? [] : [{ what, a: inA, b: inB }];
  });
}

function factsOf({ manifest, rows }: Run): Map<string, string | null> {
  const { repo, agents, variants, isolation, gateway, machine } = manifest;
  return new Map<string, string | null>([
    ['whetstone', manifest.whetstone_version],
    ['repository', repo.path],
    ['base ref', repo.base_ref],
    ['trials', String(manifest.trials)],
    ['jobs', String(manifest.jobs)],
    ...agents.flatMap(({ name, kind, version, fingerprint }): [string, string | null][] => [
      [`agent ${name}`, kind],
      [`version of ${name}`, version],
      [`configuration of ${name}`, fingerprint.slice(0, 12)],
      [`models of ${name}`, modelsOf(name, rows)],
    ]),
    ...variants.map(({ name, fingerprint }): [string, string] => [
      `variant ${name}`,
      fingerprint.slice(0, 12),
    ]),
    ['sandbox', isolation.provider],
    ['network', isolation.network],
    ['gateway', gateway?.mode ?? 'none'],
    ['platform', machine && `${machine.platform} ${machine.release} ${machine.arch}`],
    ['processors', machine && String(machine.cpus)],
  ]);
}

/** The models that answered, whatever was asked for; `null` where no row knows any. */
function modelsOf(agent: string, rows: readonly CaseRow[]): string | null {
  const models = new Set(rows.filter((row) => row.agent_name === agent).flatMap((row) => row.models));
  return models.size === 0 ? null : [...models].sort().join(', ');
}
