import type { Exposure } from '../record/exposure-schema.ts';
import { counted, tokens } from './format.ts';

/** What an agent saw of the context that its variant declares, one line per thing. What is unknown is left out. */
export function exposureLines({ instructions, skills, mcp_servers: servers, plugins }: Exposure): string[] {
  return [
    ...(instructions ? [instructionsLine(instructions)] : []),
    ...skills.map((skill) => skillLine(skill.name, skill)),
    ...servers.map(({ name, offered, calls, failures, tokens_estimate: estimate }) =>
      line(`MCP server ${name}`, [
        known(offered, 'offered', 'not offered'),
        counted(calls, 'call'),
        failures > 0 && `${failures} failed`,
        calls > 0 && about(estimate),
      ]),
    ),
    ...plugins.flatMap(({ name, loaded, skills }) => [
      line(`plugin ${name}`, [
        known(loaded, 'loaded', 'not loaded, as far as seen') || 'unknown whether loaded',
      ]),
      ...skills.map((skill) => skillLine(`${name}:${skill.name}`, skill)),
    ]),
  ];
}

const skillLine = (
  name: string,
  { listed, triggered, tokens_estimate: estimate }: Exposure['skills'][number],
): string =>
  line(`skill ${name}`, [
    known(listed, 'listed', 'not listed'),
    TRIGGERED[triggered],
    estimate !== null && triggered === 'confirmed' && about(estimate),
  ]);

const IN_REQUESTS = { whole: 'in the requests', part: 'partly in the requests', no: 'not in any request' };
const TRIGGERED = { confirmed: 'used', attempted: 'requested but not loaded', no: 'not used' };

function instructionsLine({
  path,
  in_requests: seen,
  read,
  tokens_estimate: estimate,
}: NonNullable<Exposure['instructions']>): string {
  return line(`instructions (${path})`, [
    seen !== null && IN_REQUESTS[seen],
    read !== null && 'read with a tool',
    seen === null && read === null && 'no read was seen',
    about(estimate),
  ]);
}

const about = (estimate: number): string => `about ${tokens(estimate, 0)} tokens`;

const known = (value: boolean | null, yes: string, no: string): string | false =>
  value !== null && (value ? yes : no);

const line = (subject: string, facts: readonly (string | false)[]): string =>
  `${subject}: ${facts.filter((fact) => fact !== false).join(', ')}`;
