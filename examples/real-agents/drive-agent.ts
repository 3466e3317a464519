import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  type Agent,
  createAgent,
  type DeclaredContext,
  drivenAgents,
  type McpServer,
  openSession,
  type Turn,
} from '@whetstone/agents';
import {
  type DrivenAgentKind,
  type Permissions,
  type PolicyRule,
  type ProtocolKind,
  protocolAgentsOf,
} from '@whetstone/agents/config';
import { testedVersion } from '@whetstone/agents/install';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { cacheFolder } from './install.ts';

/** A released agent in a workspace, a home and a process sandbox of its own, with a lane instead of its provider. */
export type InstalledAgent = {
  kind: DrivenAgentKind;
  /** The protocol over which it is driven. Default: as the agent of its kind. */
  protocol?: ProtocolKind;
  lane: { baseUrl: string; key: string };
  /** `own`: the one that the agent chooses. Default: a model that it knows. */
  model?: string;
  /** Settings that a user could add: variables, and files in the workspace. */
  extra?: {
    env?: Record<string, string>;
    files?: Record<string, string>;
    /** Symbolic links in the workspace: where each leads, by its name. */
    links?: Record<string, string>;
    mcpServers?: readonly McpServer[];
    skills?: DeclaredContext['skills'];
  };
  /** Default: those of `mayRunCommands`, with its rules and options. */
  permissions?: Partial<Permissions>;
  policy?: PolicyRule[];
  options?: JsonObject;
};

export type AgentSession = AsyncDisposable & {
  workspace: string;
  /** Parts of paths that are unique to this session. */
  pathNames: string[];
  /** One turn; the second resumes the session of the first. */
  turn(prompt: string, options: TurnOptions): Promise<AgentTurn>;
  /** The contents of the workspace's files, by name. */
  files(): Promise<Record<string, string>>;
};

export type TurnOptions = {
  timeoutMs: number;
  outputSchema?: JsonObject;
  /** Creates the agent again with only the id of the session, as after a restart, or without the id. */
  restarts?: boolean | 'without-id';
};

export type AgentTurn = {
  turn: Turn;
  /** As the agent printed them. */
  printed: JsonObject[];
  sessionId: string | undefined;
};

/** Models that each agent knows, so that what is measured does not change with the agent's own choice. */
export const KNOWN_MODELS: Readonly<Record<DrivenAgentKind, string>> = {
  'codex-cli': 'gpt-5.5',
  'codex-app-server': 'gpt-5.5',
  'claude-code': 'claude-sonnet-4-5',
  'gemini-cli': 'gemini-2.5-pro',
  'qwen-code': 'qwen3-coder-plus',
  'opencode-cli': 'qwen3-coder-plus',
  pi: 'claude-sonnet-4-5',
  copilot: 'claude-sonnet-4.5',
  'codex-sdk': 'gpt-5.5',
  'claude-agent-sdk': 'claude-sonnet-4-5',
  'opencode-sdk': 'qwen3-coder-plus',
};

/** What an agent may use, and options of its kind. */
export type AgentSettings = Pick<InstalledAgent, 'permissions' | 'policy' | 'options'>;

const { NODE_COMPILE_CACHE } = process.env;

/**
 * Variables with which an agent starts on less CPU: Node keeps compiled code for the next start, and Bun leaves out the
 * compiler for code that runs long.
 */
export const quickStart = { ...present({ NODE_COMPILE_CACHE }), BUN_JSC_useDFGJIT: '0' };

/** What lets an agent that asks before each command do its task, and read what the others read. */
export function mayRunCommands(kind: DrivenAgentKind): AgentSettings {
  const { enforces } = drivenAgents[kind].facts;
  if (!enforces?.shell?.includes('ask')) return {};
  // One without a sandbox of its own has to be allowed each command.
  if (kind === 'opencode-sdk') return { policy: [{ allow: { kind: 'command' } }] };
  return kind === 'claude-agent-sdk'
    ? { policy: [{ allow: { kind: 'command' } }], options: { setting_sources: ['project', 'local'] } }
    : { permissions: { shell: 'allow' } };
}

/** Drives the agent as a run does: made by `createAgent`, in a process sandbox. */
export async function openAgent({
  kind,
  protocol,
  lane,
  extra,
  policy,
  options,
  ...asked
}: InstalledAgent): Promise<AgentSession> {
  const { model = KNOWN_MODELS[kind] } = asked;
  const { env = {}, files = {}, links = {}, mcpServers = [], skills = [] } = extra ?? {};
  const driven = (protocol && protocolAgentsOf(protocol)?.[kind]) ?? drivenAgents[kind];
  const version = testedVersion(driven);
  const { permissions } = asked;
  const settings = {
    ...(!permissions && mayRunCommands(kind)),
    ...present({ permissions, policy, options }),
  };
  const make = (): Promise<Agent> =>
    createAgent(
      {
        ...(protocol ? { kind: protocol, agent: kind } : { kind }),
        ...{ version, env: { ...quickStart, ...env }, ...settings },
        ...(model !== 'own' && { model }),
      },
      { environment: { ...process.env, XDG_CACHE_HOME: cacheFolder }, hasLanes: true },
    );
  // The workspace has a unique name, because Gemini CLI makes a folder of that name below `tmp` of its home.
  const folder = await mkdtemp(join(tmpdir(), 'real-agent-'));
  const workspace = await mkdtemp(join(folder, 'workspace-'));
  const declared = { skills, plugins: [], secrets: [], mcpServers };
  const place = { folder: workspace, lane: { ...lane, env: {} }, declared };
  const first = await openSession(await make(), place);
  const { sandbox } = first;
  await sandbox.writeFiles({ 'README.md': 'Greetings.\n' });
  await sandbox.runShell('git init --quiet && git add . && git commit --quiet --message Start');
  await sandbox.writeFiles(files);
  for (const [name, target] of Object.entries(links)) await symlink(target, join(workspace, name));
  let session = first;
  let printed = 0;

  return {
    workspace,
    pathNames: [folder, workspace, dirname(first.files.stdoutFile), dirname(sandbox.home)].map((path) =>
      basename(path),
    ),

    async turn(prompt, { timeoutMs, outputSchema, restarts = false }) {
      if (restarts) {
        const { files: sessionFiles, id } = session;
        session = await openSession(await make(), {
          ...{ ...place, sandbox, files: sessionFiles },
          ...present({ resume: restarts === true ? id : undefined }),
        });
      }
      const input = outputSchema ? { text: prompt, outputSchema } : prompt;
      const turn = await session.send(input, { timeoutMs });
      const lines = await linesOf(first.files.stdoutFile);
      const before = printed;
      printed = lines.length;
      return { turn, printed: lines.slice(before), sessionId: session.id };
    },
    files: () => filesOf(workspace),
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function linesOf(file: string): Promise<JsonObject[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line): JsonObject => JSON.parse(line));
}

async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files: Record<string, string> = {};
  for (const { name } of entries.filter((entry) => entry.isFile())) {
    files[name] = await readFile(join(folder, name), 'utf8');
  }
  return files;
}
