import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { JsonObject } from '@whetstone/events';
import type { Agent, AgentContext, Turn } from '../../packages/agents/src/agent.ts';
import { createAgent } from '../../packages/agents/src/create-agent.ts';
import { testedVersion } from '../../packages/agents/src/install/install-agent.ts';
import type { DrivenAgentKind } from '../../packages/agents/src/native/native-agents.ts';
import { drivenAgents } from '../../packages/agents/src/native/native-agents.ts';
import { createProcessSandboxProvider } from '../../packages/sandbox/src/process-sandbox.ts';
import { cacheFolder } from './install.ts';

/** A released agent in a workspace, a home and a process sandbox of its own, with a lane in the place of its provider. */
export type InstalledAgent = {
  kind: DrivenAgentKind;
  lane: { baseUrl: string; key: string };
  /** Default: the agent's own. */
  model?: string;
  /** What a user could set beside: variables, and files in the workspace. */
  extra?: { env?: Record<string, string>; files?: Record<string, string> };
};

export type AgentSession = AsyncDisposable & {
  /** Parts of paths that this session alone has. */
  pathNames: string[];
  /** One turn; the second goes on with the session of the first. */
  turn(prompt: string, options: TurnOptions): Promise<AgentTurn>;
  /** The files of the workspace and what is in them, by name. */
  files(): Promise<Record<string, string>>;
};

export type TurnOptions = {
  timeoutMs: number;
  outputSchema?: JsonObject;
  /** The agent is made again and knows of the session only its id, as after a restart. */
  restarts?: boolean;
};

export type AgentTurn = {
  turn: Turn;
  /** As the agent printed them. */
  printed: JsonObject[];
  sessionId: string | undefined;
};

/** Drives the agent as a run does: made by `createAgent`, in a process sandbox. */
export async function openAgent({ kind, lane, model, extra }: InstalledAgent): Promise<AgentSession> {
  const folder = await mkdtemp(join(tmpdir(), 'real-agent-'));
  const workspace = await mkdtemp(join(folder, 'workspace-'));
  const provider = await createProcessSandboxProvider({ scratch: join(folder, 'sandboxes') });
  const sandbox = await provider.start({ workdir: workspace, env: {} });
  await sandbox.writeFiles({ 'README.md': 'Greetings.\n' });
  await sandbox.runShell('git init --quiet && git add . && git commit --quiet --message Start');
  const { env = {}, files = {} } = extra ?? {};
  await sandbox.writeFiles(files);

  const make = (): Promise<Agent> =>
    createAgent(
      {
        name: kind,
        kind,
        runner: 'driver',
        driver: {
          version: testedVersion(drivenAgents[kind]),
          inherit: [],
          ...(model !== undefined && { model }),
        },
        timeoutSeconds: 600,
        network: 'disabled',
        env,
      },
      { environment: { ...process.env, XDG_CACHE_HOME: cacheFolder }, hasLanes: true },
    );
  let agent = await make();
  let session: AgentContext['session'] = { isNew: true };
  let turns = 0;

  return {
    pathNames: [folder, workspace, dirname(sandbox.home)].map((path) => basename(path)),

    async turn(prompt, { timeoutMs, outputSchema, restarts = false }) {
      if (restarts) {
        agent = await make();
        session = { ...session };
      }
      turns += 1;
      const output = join(folder, `turn-${turns}`);
      await mkdir(output);
      const context: AgentContext = {
        signal: new AbortController().signal,
        flags: {},
        session,
        log: () => {},
        emit: () => {},
        sandbox,
        lane: { ...lane, env: {} },
        files: {
          promptFile: join(output, 'prompt.md'),
          outputDir: output,
          stateDir: folder,
          stdoutFile: join(output, 'stdout.log'),
          stderrFile: join(output, 'stderr.log'),
          taskId: 'task',
          variant: 'variant',
        },
        timeoutMs,
      };
      const turn = await agent.send({ text: prompt, ...(outputSchema && { outputSchema }) }, context);
      session.isNew = false;
      return { turn, printed: await linesOf(context.files.stdoutFile), sessionId: session.id };
    },
    files: () => filesOf(workspace),
    async [Symbol.asyncDispose]() {
      await sandbox.stop();
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
