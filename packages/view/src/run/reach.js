import { element } from '../parts/element.js';
import { bytes, counted } from '../parts/format.js';
import { facts, table } from '../parts/parts.js';

/** @import { Child } from '../parts/element.js' */
/** @import { RunDetail } from '../../../whetstone/src/view/api.ts' */

/**
 * What an agent of the run could have read, reached and used, and what was kept from it.
 * @param {RunDetail} run
 */
export function reach({ manifest: { isolation, withheld = [] } }) {
  const { hosts, setup_hosts: setupHosts, probes, auto, limits, reachable = [] } = isolation;
  /** @type {[string, Child][]} */
  const all = [
    [
      'Isolation',
      `${isolation.provider}, level ${isolation.level}${auto ? ', the strongest that the machine proved' : ''}`,
    ],
    ['Files', isolation.workspace],
    ...optional('Folders above', isolation.parents),
    ...optional('Other cases', isolation.neighbours),
    ['Processes', isolation.processes],
    ['Network', isolation.network],
    ...optional('Hosts', hosts?.join(', ')),
    ...optional('Hosts of setup', setupHosts?.join(', ')),
    ...optional('Limits', limits && limitsText(limits)),
    ...optional('Tried before, in vain', probes?.map(({ attack }) => attack).join(', ')),
    ...optional('Not stronger', auto?.reasons.join(' ') || undefined),
  ];
  return [
    reachable.length === 0
      ? null
      : element(
          'ul',
          { class: 'caveats' },
          reachable.map((attack) => element('li', {}, `An agent could ${attack}.`)),
        ),
    facts(all),
    withheld.length === 0
      ? null
      : table(
          'Kept from the trees of all cases',
          [{ head: 'Kept from the trees of all cases' }, { head: 'What it is' }],
          withheld.map(({ path, what }) => [path, what]),
        ),
  ];
}

/**
 * @param {string} name
 * @param {string | undefined} value
 * @returns {[string, Child][]}
 */
const optional = (name, value) => (value === undefined ? [] : [[name, value]]);

/** @param {NonNullable<RunDetail['manifest']['isolation']['limits']>} limits */
function limitsText({ memory_bytes: memory, processes, cpus, disk_bytes: disk = null }) {
  return [
    memory === null ? 'memory not limited' : `${bytes(memory)} of memory`,
    processes === null ? 'processes not limited' : `${processes} processes`,
    cpus === null ? 'CPU time not limited' : counted(cpus, 'CPU'),
    disk === null ? 'disk not limited' : `${bytes(disk)} of disk`,
  ].join(', ');
}
