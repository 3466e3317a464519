import { counted, tokens, UNKNOWN } from './format.js';
import { section, table } from './parts.js';

/** @import { CaseRow } from '../../whetstone/src/record/row.ts' */
/** @typedef {NonNullable<CaseRow['exposure']>} Exposure */

const COLUMNS = [
  { head: 'Declared' },
  { head: 'In its requests' },
  { head: 'Used' },
  { head: 'First' },
  { head: 'Tokens, about', number: true },
];

const IN_REQUESTS = { whole: 'whole', part: 'a part', no: 'no' };
const TRIGGERED = { confirmed: 'yes', attempted: 'asked for, not got', no: 'no' };

/**
 * What the agent saw of what its variant declares, a row for each.
 *
 * @param {Exposure} seen
 */
export function exposure({ instructions, skills, mcp_servers: servers }) {
  const rows = [
    ...(instructions
      ? [
          [
            `Instructions (${instructions.path})`,
            instructions.in_requests === null ? UNKNOWN : IN_REQUESTS[instructions.in_requests],
            instructions.read ? 'read with a tool' : UNKNOWN,
            first(instructions.read, instructions.first_call),
            tokens(instructions.tokens_estimate),
          ],
        ]
      : []),
    ...skills.map((skill) => [
      `Skill ${skill.name}`,
      yesOrNo(skill.listed),
      TRIGGERED[skill.triggered],
      first(skill.first, null),
      tokens(skill.tokens_estimate),
    ]),
    ...servers.map((server) => [
      `MCP server ${server.name}`,
      yesOrNo(server.offered),
      [counted(server.calls, 'call'), server.failures > 0 ? `${server.failures} failed` : '']
        .filter(Boolean)
        .join(', '),
      first(server.first, null),
      tokens(server.tokens_estimate),
    ]),
  ];
  return section('What it saw of its variant', table('What it saw of its variant', COLUMNS, rows));
}

/** @param {boolean | null} value */
const yesOrNo = (value) => (value === null ? UNKNOWN : value ? 'yes' : 'no');

/**
 * @param {{ event_index: number } | null} use
 * @param {string | null} call
 */
function first(use, call) {
  if (use) return `event ${use.event_index + 1}`;
  return call === null ? UNKNOWN : `call ${call}`;
}
