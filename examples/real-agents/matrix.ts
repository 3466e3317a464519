import { type DrivenAgentKind, drivenAgentKinds, drivenAgents } from '@whetstone/agents/config';
import { testedVersion } from '@whetstone/agents/install';
import { faultCases } from './faults.ts';

/** The expected result of a cell: a passed turn, or the class of the outcome; or why there is none. */
type Expected = string | { none: string };

/** Shown by one session of three turns, which `matrix.agents.test.ts` plays with every agent. */
export const sessionScenarios = [
  'workspace write',
  'two turns in one session',
  'read-only review',
  'resume after a restart of the harness',
] as const;
export type SessionScenario = (typeof sessionScenarios)[number];

/** Played by `faults.agents.test.ts`: the name in the matrix, and the name of the fault. */
const faultScenarios = {
  timeout: 'hang',
  401: '401',
  429: '429',
  500: '500',
  'truncated stream': 'truncated and garbage once each',
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
    expected: (kind) => (drivenAgents[kind].facts.mcpServers ? 'passed' : { none: 'it has no MCP' }),
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

/** The agents with their tested versions. */
export const testedAgents = (): string[] =>
  drivenAgentKinds.map((kind) => `${kind} ${testedVersion(drivenAgents[kind])}`);

/** The expected result of each agent in each scenario, as a page of the documentation. */
export function matrixTable(): string {
  const header = ['scenario', ...testedAgents()];
  const rows = scenarios.map(({ name, expected }) => [
    name,
    ...drivenAgentKinds.map((kind) => cell(expected(kind))),
  ]);
  return markdownPage(introduction, [header, ...rows]);
}

/** A page with a table, whose first row is the header. */
export function markdownPage(text: string, [header = [], ...rows]: readonly string[][]): string {
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${text}\n${lines.join('\n')}\n`;
}

const cell = (expected: Expected): string =>
  typeof expected === 'string' ? `\`${expected}\`` : `– (${expected.none})`;

const introduction = `# What the released agents do

Written by \`npm run test:agents -- -u\`; \`npm run test:agents\` plays every cell with the released agent through the
gateway's script and fails when the result differs. \`passed\`: the turn completed, the files are correct, and the events
report what happened. Any other word is the class of the case's outcome (see [results](results.md)). –: the scenario does
not apply to the agent.

The first four rows are one session of three turns. After the second turn, the agent is created again and only knows the
session's id. [agents-faults.md](agents-faults.md) has how the agents end when their provider has a fault, and after how
many calls.
`;
