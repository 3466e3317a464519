import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { present } from '@whetstone/events/present';
import { createProcessSandboxProvider, removeTree, type Sandbox } from '@whetstone/sandbox';
import type { AgentContext, AttemptFiles } from '../agent.ts';
import { openAttemptFolder } from './attempt-folder.ts';

const ONE_HOUR_MS = 3_600_000;

/** What the default sandbox enforces. */
const DEFAULT_ISOLATION = { provider: 'process', network: 'open' } as const;

export type SessionOptions = {
  /** The folder that the agent works in. Default: the current one. */
  folder?: string;
  /**
   * Whether the agent may read instructions and settings in the folders above its project, which are not the project's
   * own: above the root of the repository that `folder` is in, else above `folder`. Default: `refused`. A caller that has
   * a `sandbox` of its own decides by itself.
   */
  above?: 'refused' | 'allowed';
  /** Answers what an agent asks and the policy would decline, at a terminal for example. Default: nobody is asked. */
  ask?: AgentContext['ask'];
  /** `none`: a turn that changes any byte, mode or link of the folder has failed. Default: an agent may change files. */
  sideEffects?: 'none';
  /** Wall-clock limit of each turn, ms. Default: one hour. */
  timeoutMs?: number;
  /** Ends the turn that runs: it is then a failed turn whose `exit.ended` is `abort`. */
  signal?: AbortSignal;
  /** Default: the agent's own. */
  model?: string;
  /** A lane of a gateway, to use instead of the agent's model provider. */
  lane?: NonNullable<AgentContext['lane']>;
  /** Skills, MCP servers and plugins to offer the agent. Default: none. */
  declared?: AgentContext['declared'];
  /** Settings for an adapter, passed on as they are. Default: none. */
  flags?: AgentContext['flags'];
  /** Id of the session to resume. The home of `sandbox` must have the files that the agent kept. Default: a new session. */
  resume?: string;
  /**
   * Where the agent's commands run; the caller ends it. Default: a sandbox `process` in `folder`, with a HOME of its
   * own and a scrubbed environment, which ends with the session. It is for agents that you trust: they can read and write
   * what you can. `none`: only for an agent that runs no commands.
   */
  sandbox?: Sandbox | 'none';
  /** Where prompt, output and logs go; the caller removes them. Default: a temporary folder that ends with the session. */
  files?: AttemptFiles;
  /** What the default sandbox takes PATH and locale from. Default: `process.env`. */
  environment?: NodeJS.ProcessEnv;
};

/** The sandbox, if the agent has one, and the files of a session. */
export type SessionPlace = AsyncDisposable & {
  sandbox: Sandbox | undefined;
  files: AttemptFiles;
  /** Of the default sandbox; only who made another one knows what it enforces. */
  isolation?: typeof DEFAULT_ISOLATION;
};

/** The caller's sandbox and files; what is missing is made, and goes with the session. */
export async function openPlace({
  sandbox,
  files,
  folder = '.',
  environment = process.env,
}: SessionOptions): Promise<SessionPlace> {
  const given = sandbox === 'none' ? undefined : sandbox;
  if (sandbox && files) return { sandbox: given, files, [Symbol.asyncDispose]: async () => undefined };
  // Agents report the real path.
  const root = await mkdtemp(join(await realpath(tmpdir()), 'whetstone-agent-'));
  try {
    const ownFiles = files ?? (await makeFiles(root));
    const started = sandbox ? undefined : await startSandbox(resolve(folder), root, environment);
    return {
      sandbox: started ?? given,
      files: ownFiles,
      ...(started && { isolation: DEFAULT_ISOLATION }),
      async [Symbol.asyncDispose]() {
        await started?.stop();
        await removeTree(root);
      },
    };
  } catch (error) {
    await removeTree(root);
    throw error;
  }
}

async function startSandbox(
  workdir: string,
  root: string,
  parentEnvironment: NodeJS.ProcessEnv,
): Promise<Sandbox> {
  const provider = await createProcessSandboxProvider({ scratch: join(root, 'sandbox'), parentEnvironment });
  return await provider.start({ workdir, env: {} });
}

async function makeFiles(root: string): Promise<AttemptFiles> {
  const { promptFile, outputDir, stateDir } = openAttemptFolder(root);
  return {
    ...{ promptFile, outputDir, stateDir },
    stdoutFile: join(root, 'stdout.log'),
    stderrFile: join(root, 'stderr.log'),
    taskId: 'task',
    variant: 'default',
  };
}

/** The part of a turn's context that depends on the place and the options. */
export function contextIn(
  { sandbox, files }: SessionPlace,
  { lane, declared, model, ask, flags = {}, timeoutMs = ONE_HOUR_MS }: SessionOptions,
): Omit<AgentContext, 'signal' | 'session' | 'log' | 'emit'> {
  return {
    ...{ files, flags, timeoutMs },
    ...present({ sandbox, declared, model, ask }),
    ...(lane && { lane: { baseUrl: lane.baseUrl, key: lane.key, env: lane.env } }),
  };
}
