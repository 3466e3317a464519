import { type DrivenAgentKind, drivenAgentKinds, drivenAgents } from '@whetstone/agents/config';
import { testedVersion } from '@whetstone/agents/install';
import { faultCases, type Observation } from './faults.ts';

/** What each agent did when its provider was at fault, as a page of the documents. */
export function faultTable(observed: (kind: DrivenAgentKind, name: string) => Observation): string {
  const named = drivenAgentKinds.map((kind) => `${kind} ${testedVersion(drivenAgents[kind])}`);
  const rows = faultCases.map(({ name, outcome }) => [
    name,
    `\`${outcome}\``,
    ...drivenAgentKinds.map((kind) => cell(observed(kind, name))),
  ]);
  const header = ['the provider', 'the case is', ...named];
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${introduction}\n${lines.join('\n')}\n`;
}

function cell({ turn: { exit, status }, calls }: Observation): string {
  if (exit?.ended !== 'exit') return `stopped by us, exit ${exit?.exitCode}`;
  return `exit ${exit.exitCode}, ${status}, ${calls} ${calls === 1 ? 'call' : 'calls'}`;
}

const introduction = `# Agents whose provider is at fault

Written by \`npm run test:agents -- -u\`; \`npm run test:agents\` checks it. Each released agent did the same task (5 calls
of its model) through the gateway while the provider answered as the first column says: to every call, to the first one
(_once_), or to every second one (_at times_). Given are the exit code, what Whetstone made of the agent's last word, and its calls.
_Stopped by us_: it still waited or tried again at the time limit of 15 to 25 seconds. A reset of the provider reaches an
agent as a 502 of the gateway.

Claude Code (\`CLAUDE_CODE_MAX_RETRIES=1\`) and Gemini CLI (\`general.maxAttempts: 2\`) have settings to give up soon, which
are set here; Claude Code would try ten times. OpenCode and Qwen Code have none that does it. An exit code alone tells
little: pi's is always 0, and Gemini CLI's is the HTTP status modulo 256. Ways to fail that are recorded and not played are
in [how the agents fail](agents-failures.md).
`;
