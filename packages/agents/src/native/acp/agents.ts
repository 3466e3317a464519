import { type JsonObject, parseJson } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn } from '../../kit/fields.ts';
import type { McpLog } from '../../kit/mcp-failures.ts';
import { type Enforces, openPermissions, type Permissions, shellOpensAll } from '../../policy/permissions.ts';
import { claudeCode } from '../claude-code/claude-code.ts';
import { codexCli } from '../codex-cli/codex-cli.ts';
import { copilot } from '../copilot/copilot.ts';
import { geminiCli } from '../gemini-cli/gemini-cli.ts';
import { debugLog } from '../gemini-cli/launch.ts';
import type { DrivenAgent, LaunchSettings, TurnRequest } from '../native-agent.ts';
import { opencodeCli } from '../opencode-cli/opencode-cli.ts';
import { describingModel } from '../opencode-sdk/launch.ts';
import { qwenCode } from '../qwen-code/qwen-code.ts';
import { holdAcpTurn } from './client.ts';
import type { ClientOptions } from './client-options.ts';
import { outlastedMinute } from './outlasted-minute.ts';
import { AcpStream } from './stream.ts';

/** Whether an agent takes images, it says itself. */
export const acpInputs = ['image', 'mention', 'file', 'diff'] as const;

/** What makes a released agent a server of the protocol that asks before it writes or runs something. */
type Server = {
  args: (turn: TurnRequest) => string[];
  settings?: (settings: LaunchSettings, permissions: Permissions) => LaunchSettings;
  client?: (permissions: Permissions) => ClientOptions;
  /** Default: it asks before each change of a file and each command. */
  enforces?: Enforces;
  /** Default: that of the agent. */
  mcpLog?: McpLog;
};

/** The agent with its own settings, places and login; only its turns and its output are those of the protocol. */
function overAcp(agent: DrivenAgent, server: Server): DrivenAgent {
  const { kind, facts, release, launch } = agent;
  const { args, settings = (own) => own, client = (): ClientOptions => ({}), enforces = ASKED } = server;
  const { mcpLog = agent.mcpLog } = server;
  return {
    ...{ kind, release, ...present({ mcpLog }) },
    facts: { ...facts, inputs: acpInputs, structuredOutput: false, enforces },
    stream: { open: (place) => new AcpStream(place) },
    launch: {
      // The protocol carries the MCP servers, unless they come too late, and its questions what the agent may do.
      settings({ mcpServers = [], ...connection }) {
        const { permissions } = connection;
        const given = client(permissions).hasServersInSettings ? { mcpServers } : {};
        return settings(
          launch.settings({ ...connection, ...given, permissions: openPermissions }),
          permissions,
        );
      },
      turn: args,
      dialogue: (peer, turn) =>
        holdAcpTurn(
          peer,
          { ...turn, ...present({ place: turn.connection.place }) },
          client(turn.permissions),
        ),
    },
  };
}

const ASKED: Enforces = {
  filesystem: ['read-only', 'workspace'],
  shell: ['off', 'ask'],
  together: shellOpensAll,
};

const withModel = ({ model }: TurnRequest): string[] => (model === undefined ? [] : ['--model', model]);

const minute = outlastedMinute();

/** The adapter of a released agent, a package that brings the agent itself. */
function adapter(agent: DrivenAgent, program: string): DrivenAgent {
  const name = `@agentclientprotocol/${program}`;
  const { wire } = agent.release;
  const entry = { script: `${name}/dist/index.js` };
  return { ...agent, release: { package: name, program, installedAs: program, entry, wire } };
}

export const acpAgents = {
  'gemini-cli': overAcp(geminiCli, {
    args: (turn) => ['--acp', '--skip-trust', ...withModel(turn)],
    client: () => ({ mode: 'default', dropsImagesBesideLinks: true, ...minute }),
    // It runs commands that only read without a question, but it can be given no shell at all.
    enforces: { ...ASKED, shell: ['off'] },
    settings: ({ files, env, ...own }, { shell }) => ({
      ...own,
      env: { ...env, ...debugLog(env.GEMINI_CLI_HOME ?? '') },
      files: { ...files, ...(shell === 'off' && { '.gemini/policies/no-shell.toml': NO_SHELL }) },
    }),
  }),
  'opencode-cli': overAcp(opencodeCli, {
    args: ({ workingDirectory }) => ['acp', '--cwd', workingDirectory],
    // As shipped, it asks for nothing in the workspace.
    settings: ({ env, ...own }) => ({
      ...own,
      env: {
        ...env,
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          ...describingModel(settingsIn(env.OPENCODE_CONFIG_CONTENT)),
          permission: ASKS,
        }),
      },
    }),
  }),
  'qwen-code': overAcp(qwenCode, {
    args: (turn) => ['--acp', '--auth-type', 'openai', ...withModel(turn)],
    settings: ({ files, ...own }) => ({
      ...own,
      files: { ...files, [QWEN]: amended(files[QWEN], QWEN_SETTINGS) },
    }),
    mcpLog: { mark: 'MCP server(s) failed to start', failure: /failed to start: (?<names>[^.]+)\./ },
    // It starts in a mode in which a model decides.
    client: () => ({ mode: 'default', dropsImagesBesideLinks: true }),
  }),
  'codex-cli': overAcp(adapter(codexCli, 'codex-acp'), {
    args: () => [],
    // Its sandbox confines it without a question; what it asks for is to run something outside of that.
    client: ({ filesystem }) => ({
      mode: CODEX_MODES[filesystem],
      asksToLeaveSandbox: filesystem !== 'full',
    }),
    enforces: {
      filesystem: ['read-only', 'workspace'],
      ownSandbox: ({ filesystem }) => filesystem !== 'full',
    },
  }),
  'claude-code': overAcp(adapter(withoutPlugins(claudeCode), 'claude-agent-acp'), {
    args: () => [],
    // The arguments are those of Claude Code. By itself, it runs commands that only read without a question.
    settings: ({ env, files }) => ({ env, files: { ...files, '.claude/settings.json': CLAUDE_ASKS } }),
    client: () => ({ mode: 'default' }),
  }),
  copilot: overAcp(copilot, {
    args: (turn) => ['--acp', ...withModel(turn)],
    client: () => ({ hasServersInSettings: true }),
    mcpLog: {
      file: '.copilot/logs',
      mark: 'MCP server connection failed',
      failure: /"server_name":"(?<names>[^"]+)","raw_error":"(?<why>[^"]*)/,
    },
  }),
} satisfies Record<string, DrivenAgent>;

const CODEX_MODES = {
  'read-only': 'read-only',
  workspace: 'workspace-write',
  full: 'agent-full-access',
} as const;

const CLAUDE_ASKS = JSON.stringify({ permissions: { ask: ['Bash'] } });

/** An adapter passes no plugins on. */
function withoutPlugins({ facts: { plugins: _, ...facts }, ...agent }: DrivenAgent): DrivenAgent {
  return { ...agent, facts };
}

const ASKS = { edit: 'ask', bash: 'ask', webfetch: 'ask', external_directory: 'ask', doom_loop: 'deny' };

const QWEN = '.qwen/settings.json';
const QWEN_SETTINGS = {
  // By itself, it runs commands that only read without a question.
  permissions: { ask: ['run_shell_command'] },
  // Otherwise it asks its model after each turn for the user's next prompt, and what to remember.
  ui: { enableFollowupSuggestions: false },
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
};

const NO_SHELL = `[[rule]]
toolName = "run_shell_command"
decision = "deny"
priority = 900
`;

const amended = (json: string | undefined, more: JsonObject): string =>
  JSON.stringify({ ...settingsIn(json), ...more });

const settingsIn = (json = '{}'): JsonObject => objectIn(parseJson(json)) ?? {};
