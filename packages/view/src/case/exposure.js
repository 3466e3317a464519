import { counted, tokens, UNKNOWN } from '../parts/format.js';
import { section, table } from '../parts/parts.js';

/** @import { CaseRow } from '../../../whetstone/src/record/row.ts' */
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
 * How much of each instruction file of the workspace the first model request had.
 * @param {NonNullable<CaseRow['instruction_files']>} files
 */
export function instructionFiles(files) {
  const columns = [{ head: 'File' }, { head: 'In the first model request' }];
  const rows = files.map(({ path, in_first_request: extent }) => [path, IN_REQUESTS[extent]]);
  return section('Instruction files', table('Instruction files', columns, rows));
}

/**
 * What the agent saw of its variant's context, with a row per item.
 * @param {Exposure} seen
 */
export function exposure({ instructions, skills, mcp_servers: servers, plugins }) {
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
    ...skills.map((skill) => skillRow(skill.name, skill)),
    ...servers.map((server) => [
      `MCP server ${server.name}`,
      yesOrNo(server.offered),
      [counted(server.calls, 'call'), server.failures > 0 ? `${server.failures} failed` : '']
        .filter(Boolean)
        .join(', '),
      first(server.first, null),
      tokens(server.tokens_estimate),
    ]),
    ...plugins.flatMap((plugin) => [
      [`Plugin ${plugin.name}`, yesOrNo(plugin.loaded), UNKNOWN, UNKNOWN, UNKNOWN],
      ...plugin.skills.map((skill) => skillRow(`${plugin.name}:${skill.name}`, skill)),
    ]),
  ];
  return section(
    'What the agent saw of its variant',
    table('What the agent saw of its variant', COLUMNS, rows),
  );
}

/**
 * @param {string} name
 * @param {Exposure['skills'][number]} skill
 */
const skillRow = (name, skill) => [
  `Skill ${name}`,
  yesOrNo(skill.listed),
  TRIGGERED[skill.triggered],
  first(skill.first, null),
  tokens(skill.tokens_estimate),
];

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
