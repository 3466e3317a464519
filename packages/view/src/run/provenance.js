import { bytes, counted } from '../parts/format.js';
import { facts, lateFold, localTime, table } from '../parts/parts.js';

/** @import { Child } from '../parts/element.js' */
/** @import { RunDetail } from '../../../whetstone/src/view/api.ts' */

/**
 * Everything that somebody needs to repeat a run: commits, agents, versions and machine.
 * @param {RunDetail} run
 */
export function provenance({ manifest }) {
  const { repo, gateway, machine } = manifest;
  const commits = [...new Set(manifest.tasks.map((task) => task.commit))];
  /** @type {[string, Child][]} */
  const all = [
    ['Repository', `${repo.path} at ${repo.base_ref}${repo.dirty ? ', uncommitted changes left out' : ''}`],
    [commits.length === 1 ? 'Commit' : 'Commits', commits.join(', ')],
    ['Model calls', gateway ? `gateway, ${gateway.mode} ${gateway.script ?? ''}` : 'not through the gateway'],
    ['Seed', manifest.seed],
    ['Trials', `${counted(manifest.trials, 'trial')} of each, ${manifest.jobs} at a time`],
    [
      'Config',
      `${manifest.config_path}${manifest.config_hash === null ? '' : `, sha256 ${manifest.config_hash}`}`,
    ],
    [
      'Versions',
      `whetstone ${manifest.whetstone_version}${machine ? `, Node ${machine.node}${machine.git === null ? '' : `, Git ${machine.git}`}` : ''}`,
    ],
    [
      'Machine',
      machine
        ? `${machine.platform} ${machine.release} ${machine.arch}, ${counted(machine.cpus, 'CPU')}, ${bytes(machine.memory_bytes)}`
        : '–',
    ],
    ['Created', localTime(manifest.created_at)],
  ];
  return [
    facts(all),
    lateFold('parts', 'Agents, tasks and variants, with their fingerprints', () => partsTable(manifest)),
  ];
}

/** @param {RunDetail['manifest']} manifest */
function partsTable(manifest) {
  const rows = [
    ...manifest.agents.map((one) => [
      one.name,
      'agent',
      `${one.kind} ${one.version ?? '(version not known)'}`,
      one.fingerprint,
    ]),
    ...manifest.tasks.map((one) => [
      one.id,
      'task',
      [one.title, `commit ${one.commit}`].filter(Boolean).join(', '),
      one.fingerprint,
    ]),
    ...manifest.variants.map((one) => [one.name, 'variant', one.description, one.fingerprint]),
  ];
  return table(
    'Parts',
    [{ head: 'Name' }, { head: 'Part' }, { head: 'What' }, { head: 'Fingerprint' }],
    rows,
  );
}
