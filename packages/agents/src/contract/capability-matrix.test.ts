import { expect, test } from 'vitest';
import { agentConfig } from '../__fixtures__/attempt.ts';
import type { AgentConfig } from '../config.ts';
import { testedVersion } from '../install/install-agent.ts';
import { agentKeyVariable } from '../kit/agent-secrets.ts';
import { loopProfiles } from '../loop/loop-profiles.ts';
import { contextPlacesOf } from '../native/context-places.ts';
import type { NativeFacts } from '../native/native-agent.ts';
import { agentKinds, drivenAgents, isDrivenKind, nativeAgentOf } from '../native/native-agents.ts';
import { takesOutputSchema } from '../native/takes-output-schema.ts';

const COLUMNS = [
  ...['agent', 'what it is', 'wire', 'key without a gateway', 'several turns', 'instructions', 'skills'],
  ...[
    'MCP servers',
    'plugins',
    'structured output',
    'events from',
    'login instead of a key',
    'calls of a login',
    'retries bounded by',
  ],
];

/** The configuration of each agent as its page shows it. */
function pageConfig(kind: (typeof agentKinds)[number]): AgentConfig {
  if (kind === 'loop') return agentConfig({ kind, loop: { profile: 'openai' } });
  if (isDrivenKind(kind)) return agentConfig({ kind, driver: { inherit: [] } });
  return agentConfig({ kind, command: { kind: 'argv', argv: [kind] } });
}

function row(page: string, config: AgentConfig): string[] {
  const places = contextPlacesOf(config);
  const schema = takesOutputSchema(config);
  const { what, wire, key, turns } = described(config);
  const isUsers = config.runner === 'command' || config.runner === 'module';
  return [
    ...[`[\`${page}\`](${page}.md)`, what, wire, key, turns, `\`${places.instructions}\``],
    ...(isUsers
      ? ['by `context`', 'by `context`', '–']
      : [places.skills !== undefined, places.mcpServers === true, places.plugins !== undefined].map(yes)),
    schema === 'module' ? 'as it says' : yes(schema),
    sources(config),
    ...signIn(nativeAgentOf(config.kind)?.facts),
  ];
}

function described(config: AgentConfig): Record<'what' | 'wire' | 'key' | 'turns', string> {
  const own = { wire: 'its own', key: 'its own' };
  switch (config.runner) {
    case 'driver': {
      const agent = drivenAgents[config.kind];
      const { program, package: name, wire } = agent.release;
      return {
        what: `\`${program}\` of \`${name}\`, ${testedVersion(agent)}`,
        wire: `\`${wire}\``,
        key: `\`${agentKeyVariable(config)}\``,
        turns: 'by its session’s id',
      };
    }
    case 'loop':
      return { what: 'in process', wire: 'by its profile', key: 'by its profile', turns: 'by a snapshot' };
    case 'module':
      return { what: 'a module of yours', ...own, turns: 'as it says' };
    case 'command':
      return { what: 'a command of yours', ...own, turns: 'by `{session_id}`' };
  }
}

function sources({ runner, kind }: AgentConfig): string {
  if (runner === 'module' || runner === 'loop') return 'itself';
  const { stream, transcript } = nativeAgentOf(kind) ?? {};
  return [stream ? 'its stream' : 'its text', ...(transcript ? ['its transcript'] : [])].join(', ');
}

function signIn({ login, retries }: Partial<NativeFacts> = {}): string[] {
  return [
    ...loginCells(login),
    retries ? ('variable' in retries ? `\`${retries.variable}\`` : retries.setting) : '–',
  ];
}

function loginCells(login: NativeFacts['login']): [login: string, calls: string] {
  if (!login || login.ended !== undefined) return ['–', '–'];
  const { variables = [], file, upstreams } = login;
  const places = [...variables, ...(file ? [`~/${file.path}`] : [])];
  const way = Object.keys(upstreams).length > 0 ? 'through the gateway' : 'beside the gateway';
  return [places.map((place) => `\`${place}\``).join(', '), way];
}

const yes = (can: boolean): string => (can ? 'yes' : '–');

const INSTRUCTIONS = `## Which instruction files each agent reads

What an agent gives to its model without being asked, from the root of the workspace, in the order of its first request. Found
with the released programs and their default settings (\`instruction-files.agents.test.ts\`): an agent's settings can name
more. "Below": it reads the same files in a folder below once it opens a file there. "Imports": it also reads the files that
an instruction file names as \`@path\`. Of a command or a module only the file is known that its \`context\` names.
`;

function instructionsRow(page: string, config: AgentConfig): string[][] {
  const { reads, imports = false, readsBelow = false } = contextPlacesOf(config);
  if (!reads) return [];
  const files = reads.map(({ path, hiddenBy = [] }) => {
    const name = /\.md$/i.test(path) ? path : `${path}/**/*.md`;
    const by = hiddenBy.map((file) => `\`${file}\``).join(' or ');
    return `\`${name}\`${by === '' ? '' : ` (not beside ${by})`}`;
  });
  return [[page, files.join(', '), yes(readsBelow), yes(imports)]];
}

const table = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');

const rule = (columns: readonly string[]) => [columns, columns.map(() => '---')];

const INTRODUCTION = `# What each agent can do

Generated by \`npm test -- -u\` from the facts that Whetstone keeps of each agent; \`npm test\` fails if the page differs.

The agents of npm packages run without a \`command\`; with one, they are commands of yours. "By \`context\`": the places
that the agent's [configuration names](custom.md#where-it-looks). "As it says": a module's \`capabilities\`. Whetstone
refuses a variant or a task that asks more of an agent than it can do, before anything runs.
[What the agents really do](../agents-matrix.md) is measured with the released programs.

Every agent has a home, a workspace and a process tree of its own, without a terminal and without input, in the
[sandbox](../configuration.md) of the run, where it may do everything. Whetstone starts the programs that it drives. It
does not attach to a server that already runs, or to a desktop application such as Codex Desktop.
`;

test('the page matches the code', async () => {
  const rows = [
    ...agentKinds.map((kind) => row(kind, pageConfig(kind))),
    row('http', agentConfig({ kind: 'custom', module: { file: '/agents/mine.ts' } })),
  ];
  const read = [
    ...agentKinds
      .filter((kind) => kind !== 'loop')
      .flatMap((kind) => instructionsRow(`\`${kind}\``, pageConfig(kind))),
    ...loopProfiles.flatMap((profile) =>
      instructionsRow(`\`loop\`, ${profile}`, agentConfig({ kind: 'loop', loop: { profile } })),
    ),
  ];
  const files = table([...rule(['agent', 'files', 'below', 'imports']), ...read]);
  const page = `${INTRODUCTION}\n${table([...rule(COLUMNS), ...rows])}\n${INSTRUCTIONS}\n${files}`;
  await expect(page).toMatchFileSnapshot('../../../../docs/agents/capabilities.md');
});
