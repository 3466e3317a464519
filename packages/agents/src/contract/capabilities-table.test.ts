import { expect, test } from 'vitest';
import { agentConfig } from '../__fixtures__/attempt.ts';
import type { AgentConfig, AgentKind } from '../config.ts';
import { testedVersion } from '../install/install-cli-agent.ts';
import { contextPlacesOf } from '../native/context-places.ts';
import { cliKeyVariable } from '../native/create-driven-agent.ts';
import { agentKinds, isCliKind } from '../native/kinds.ts';
import { mappers, type NativeMappers } from '../native/mappers.ts';
import { cliAgents } from '../native/native-agents.ts';
import { takesOutputSchema } from '../native/output-schema.ts';

const COLUMNS = [
  ...['agent', 'what it is', 'wire', 'key without a gateway', 'several turns', 'instructions', 'skills'],
  ...['MCP servers', 'plugins', 'structured output', 'events from'],
];

function formOf(kind: AgentKind): Partial<AgentConfig> {
  if (kind === 'loop') return { kind, loop: { profile: 'openai' } };
  if (isCliKind(kind)) return { kind, cli: { inherit: [] } };
  return { kind, command: { kind: 'argv', argv: [kind] } };
}

function row(page: string, config: AgentConfig): string[] {
  const places = contextPlacesOf(config);
  const schema = takesOutputSchema(config);
  const { what, wire, key, turns } = described(config);
  return [
    ...[`[\`${page}\`](${page}.md)`, what, wire, key, turns, `\`${places.instructions}\``],
    ...(config.command || config.module
      ? ['by `context`', 'by `context`', '–']
      : [places.skills !== undefined, places.mcpServers === true, places.plugins !== undefined].map(yes)),
    schema === 'module' ? 'as it says' : yes(schema),
    sources(config),
  ];
}

function described({ kind, module }: AgentConfig): Record<'what' | 'wire' | 'key' | 'turns', string> {
  if (isCliKind(kind)) {
    const released = cliAgents[kind];
    return {
      what: `\`${released.program}\` of \`${released.package}\`, ${testedVersion(released)}`,
      wire: `\`${released.wire}\``,
      key: `\`${cliKeyVariable(kind, { inherit: [] })}\``,
      turns: 'by its session’s id',
    };
  }
  if (kind === 'loop') {
    return { what: 'in process', wire: 'by its profile', key: 'by its profile', turns: 'by a snapshot' };
  }
  const own = { wire: 'its own', key: 'its own' };
  if (module) return { what: 'a module of yours', ...own, turns: 'as it says' };
  return { what: 'a command of yours', ...own, turns: 'by `{session_id}`' };
}

function sources({ kind, module }: AgentConfig): string {
  if (module || kind === 'loop') return 'itself';
  const { stream, transcript }: NativeMappers = Object.hasOwn(mappers, kind)
    ? mappers[kind as keyof typeof mappers]
    : {};
  return [stream ? 'its stream' : 'its text', ...(transcript ? ['its transcript'] : [])].join(', ');
}

const yes = (can: boolean): string => (can ? 'yes' : '–');

const INTRODUCTION = `# What each agent can

Written by \`npm test -- -u\` from what the adapters declare; \`npm test\` fails where it is something else.

The agents of npm packages are driven without a \`command\`; with one they are commands of yours. "By \`context\`": where its
configuration [says that it looks](custom.md#where-it-looks). "As it says": a module's \`capabilities\`. A variant or a task that asks more of an agent than it can is refused before anything
runs. [What they really do](../agents-matrix.md) is played with the released programs.

Every agent has a home, a workspace and a process tree of its own, without a terminal and without input, in the
[sandbox](../configuration.md) of the run; what each is allowed there is everything. Whetstone starts what it drives: it
attaches to no server that exists already, and to no desktop application, Codex Desktop included.
`;

test('the page says what the code does', async () => {
  // As each agent's page shows it.
  const rows = [
    ...agentKinds.map((kind) => row(kind, agentConfig(formOf(kind)))),
    row('http', agentConfig({ kind: 'custom', module: { file: '/agents/mine.ts' } })),
  ];
  const lines = [COLUMNS, COLUMNS.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  await expect(`${INTRODUCTION}\n${lines.join('\n')}\n`).toMatchFileSnapshot(
    '../../../../../docs/agents/capabilities.md',
  );
});
