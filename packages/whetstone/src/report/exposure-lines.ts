import type { Exposure } from '../record/exposure.ts';
import { counted, tokens } from './format.ts';

/** What an agent saw of what its variant declares, a line each. Nothing is said of what is not known. */
export function exposureLines({ instructions, skills, mcp_servers: servers }: Exposure): string[] {
  return [
    ...(instructions ? [instructionsLine(instructions)] : []),
    ...skills.map(({ name, listed, triggered, tokens_estimate: estimate }) =>
      line(`skill ${name}`, [
        known(listed, 'listed', 'not listed'),
        TRIGGERED[triggered],
        estimate !== null && triggered === 'confirmed' && about(estimate),
      ]),
    ),
    ...servers.map(({ name, offered, calls, failures, tokens_estimate: estimate }) =>
      line(`MCP server ${name}`, [
        known(offered, 'offered', 'not offered'),
        counted(calls, 'call'),
        failures > 0 && `${failures} failed`,
        calls > 0 && about(estimate),
      ]),
    ),
  ];
}

const IN_REQUESTS = { whole: 'in the requests', part: 'a part in the requests', no: 'in no request' };
const TRIGGERED = { confirmed: 'used', attempted: 'asked for and not got', no: 'not used' };

function instructionsLine({
  path,
  in_requests: seen,
  read,
  tokens_estimate: estimate,
}: NonNullable<Exposure['instructions']>): string {
  return line(`instructions (${path})`, [
    seen !== null && IN_REQUESTS[seen],
    read !== null && 'read with a tool',
    seen === null && read === null && 'not seen to be read',
    about(estimate),
  ]);
}

const about = (estimate: number): string => `about ${tokens(estimate, 0)} tokens`;

const known = (value: boolean | null, yes: string, no: string): string | false =>
  value !== null && (value ? yes : no);

const line = (subject: string, facts: readonly (string | false)[]): string =>
  `${subject}: ${facts.filter((fact) => fact !== false).join(', ')}`;
