import { present } from '@whetstone/events/present';
import { sdkDialogue, staysOpen } from '../../kit/sdk-dialogue.ts';
import { sdkItems } from '../../kit/sdk-items.ts';
import type { Permissions } from '../../policy/permissions.ts';
import { launch as cli } from '../codex-cli/launch.ts';
import { ownTemporary } from '../codex-cli/own-temporary.ts';
import { traceOf, traceSettings, tracing } from '../codex-cli/trace.ts';
import type { Connection, DialogueTurn, Launch } from '../native-agent.ts';
import type { CodexSdkRequest } from './bridge.ts';
import type { CodexSdkOptions } from './options.ts';

const SANDBOX_MODES = {
  'read-only': 'read-only',
  workspace: 'workspace-write',
  full: 'danger-full-access',
} as const satisfies Record<Permissions['filesystem'], string>;

export const launch: Launch = {
  // The SDK starts Codex CLI, which reads the same settings.
  settings(connection) {
    const { env, files } = cli.settings(connection);
    const temporary = ownTemporary(connection.home);
    const { trace } = (connection.options ?? {}) as CodexSdkOptions;
    const traced = trace && tracing(trace.endpoint, 'codex-sdk');
    return {
      env: { ...env, ...temporary.env, ...traced?.env },
      files: { ...files, ...temporary.files },
    };
  },
  turn: () => [],
  stays: staysOpen,
  dialogue: sdkDialogue(async (turn) => {
    const trace = traceOf(turn.env);
    if (trace) turn.report({ trace });
    return { request: await requestOf(turn) };
  }),
};

async function requestOf(turn: DialogueTurn) {
  const { input, model, workingDirectory, permissions, resume } = turn;
  const { access } = turn.connection;
  const options = turn.options as CodexSdkOptions;
  const isOpen = permissions.network === 'open';
  return present({
    items: await sdkItems(input, workingDirectory, turn.connection.place),
    codex: {
      ...present({ codexPathOverride: options.codex_path }),
      config: {
        features: featuresOf(permissions),
        sandbox_workspace_write: { exclude_slash_tmp: true },
        ...approvedServers(turn.connection),
        ...(access.kind === 'key' && noAccount),
        ...(options.trace && traceSettings(options.trace.endpoint)),
      },
    },
    thread: {
      ...present({
        model,
        modelReasoningEffort: options.reasoning_effort,
        additionalDirectories: options.additional_directories,
      }),
      workingDirectory,
      skipGitRepoCheck: true,
      sandboxMode: SANDBOX_MODES[permissions.filesystem],
      networkAccessEnabled: isOpen,
      webSearchMode: options.web_search ?? (isOpen ? 'live' : 'disabled'),
      // Nobody is there to ask: what the sandbox of Codex does not allow fails.
      approvalPolicy: 'never',
    },
    turn: present({ outputSchema: input.outputSchema }),
    resume: resume ?? options.resume,
  } satisfies Record<keyof CodexSdkRequest, unknown>);
}

/** In its sandbox Codex asks about each call of a server, and nobody is there. What a variant gives needs no approval. */
function approvedServers({ mcpServers = [], plugins = [] }: Connection) {
  const approve = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { default_tools_approval_mode: 'approve' }]));
  return {
    mcp_servers: approve(mcpServers.map(({ name }) => name)),
    plugins: Object.fromEntries(
      plugins.map((plugin) => [`${plugin.name}@local`, { mcp_servers: approve(plugin.mcpServers ?? []) }]),
    ),
  };
}

/** With plugins, the Codex of the SDK asks ChatGPT for a list of more of them, also without an account. Nothing is there. */
const noAccount = { chatgpt_base_url: 'http://127.0.0.1:9/' };

/** Codex's own switches. Plugins of the account come from its maker's server, beside the gateway. */
function featuresOf({ apps, shell }: Permissions) {
  const isAllowed = apps === 'allow';
  const hasShell = shell !== 'off';
  return { apps: isAllowed, remote_plugin: isAllowed, shell_tool: hasShell, unified_exec: hasShell };
}
