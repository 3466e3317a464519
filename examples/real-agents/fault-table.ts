import { type DrivenAgentKind, drivenAgentKinds } from '@whetstone/agents/config';
import { faultCases, type Observation } from './faults.ts';
import { markdownPage, testedAgents } from './matrix.ts';

/** What each agent did when its provider had a fault, as a page of the documentation. */
export function faultTable(observed: (kind: DrivenAgentKind, name: string) => Observation): string {
  const rows = faultCases.map(({ name, outcome }) => [
    name,
    `\`${outcome}\``,
    ...drivenAgentKinds.map((kind) => cell(observed(kind, name))),
  ]);
  return markdownPage(introduction, [['the provider', 'the case is', ...testedAgents()], ...rows]);
}

function cell({ turn: { exit, status }, calls }: Observation): string {
  // Which of its processes our signal reaches first decides about its exit code.
  if (exit?.ended !== 'exit') return 'stopped by us';
  return `exit ${exit.exitCode}, ${status}, ${calls} ${calls === 1 ? 'call' : 'calls'}`;
}

const introduction = `# Agents whose provider has a fault

Written by \`npm run test:agents -- -u\`; \`npm run test:agents\` checks it. Each released agent did the same task (5 calls
of its model) through the gateway, while the provider answered as in the first column: every call, only the first
(_once_), two or three single calls (_once each_), or every second one (_at times_). Each cell has the exit code, the
status of the turn, and the number of calls. _Stopped by us_: the agent still waited or retried at the time limit of 15
to 25 seconds. An agent sees a reset of the provider as a 502 of the gateway.

Claude Code (\`CLAUDE_CODE_MAX_RETRIES=1\`) and Gemini CLI (\`general.maxAttempts: 2\`) have settings to give up early, which
are used here; Claude Code would try ten times. OpenCode and Qwen Code have no such setting. An exit code says little: pi's
is always 0, and Gemini CLI's is the HTTP status modulo 256. [How the agents fail](agents-failures.md) has failures that
were recorded and are not played.
`;
