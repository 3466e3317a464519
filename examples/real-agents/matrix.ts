import { type DrivenAgentKind, drivenAgentKinds, drivenAgents } from '@whetstone/agents/config';
import { testedVersion } from '@whetstone/agents/install';
import { faultCases } from './faults.ts';

/** What a cell has to come to: a passed turn, or the class of the outcome; or why there is nothing to see. */
type Expected = string | { none: string };

/** What one session of three turns shows; `matrix.agents.test.ts` plays it with every agent. */
export const sessionScenarios = [
  'workspace write',
  'two turns in one session',
  'read-only review',
  'resume after a restart of the harness',
] as const;
export type SessionScenario = (typeof sessionScenarios)[number];

/** What `faults.agents.test.ts` plays: a name of the matrix, and that of the fault. */
const faultScenarios = {
  timeout: 'hang',
  401: '401',
  429: '429',
  500: '500',
  'truncated stream': 'truncated once',
};

/**
 * Skill, MCP call and plugin are played by `packages/whetstone/src/cli/run-context.agents.test.ts`, structured output by
 * `structured-output.agents.test.ts`.
 */
type Scenario = { name: string; expected: (kind: DrivenAgentKind) => Expected };

const scenarios: readonly Scenario[] = [
  ...sessionScenarios.map((name) => ({ name, expected: () => 'passed' })),
  { name: 'skill', expected: () => 'passed' },
  {
    name: 'MCP call',
    expected: (kind) => (drivenAgents[kind].facts.mcpServers ? 'passed' : { none: 'it knows no MCP' }),
  },
  { name: 'plugin', expected: () => 'passed' },
  {
    name: 'structured output',
    expected: (kind) => (drivenAgents[kind].facts.structuredOutput ? 'passed' : { none: 'it has none' }),
  },
  ...Object.entries(faultScenarios).map(([name, fault]) => ({ name, expected: () => faultOutcome(fault) })),
];

function faultOutcome(name: string): string {
  const found = faultCases.find((one) => one.name === name);
  if (!found) throw new Error(`There is no fault ${name}.`);
  return found.outcome;
}

/** What each agent has to come to in each scenario, as a page of the documents. */
export function matrixTable(): string {
  const header = [
    'scenario',
    ...drivenAgentKinds.map((kind) => `${kind} ${testedVersion(drivenAgents[kind])}`),
  ];
  const rows = scenarios.map(({ name, expected }) => [
    name,
    ...drivenAgentKinds.map((kind) => cell(expected(kind))),
  ]);
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${introduction}\n${lines.join('\n')}\n`;
}

const cell = (expected: Expected): string =>
  typeof expected === 'string' ? `\`${expected}\`` : `– (${expected.none})`;

const introduction = `# What the released agents do

Written by \`npm run test:agents -- -u\`; \`npm run test:agents\` plays every cell with the released agent through the
gateway's script and fails where it comes to something else. \`passed\`: the turn completed, the files are what they must
be, and the events tell it. Any other word is the class of the outcome that a case then has (see [results](results.md)).
–: there is nothing to play.

The first four rows are one session of three turns; after the second the agent is made anew and knows nothing but the
session's id. How the agents end when their provider is at fault, and after how many tries, is in
[agents-faults.md](agents-faults.md).
`;
