// One attempt for tests of agents: real folders, a real process sandbox, and a context that records events.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import type {
  AgentConfig,
  CommandAgentConfig,
  DriverOptions,
  LoopOptions,
  ModuleOptions,
} from '../config.ts';
import { createProcessSandboxProvider } from '@whetstone/sandbox';
import type { Sandbox } from '@whetstone/sandbox';
import type { AgentContext } from '../agent.ts';

export type TestAttempt = AsyncDisposable & {
  folder: string;
  workdir: string;
  sandbox: Sandbox;
  emitted: StreamEvent[];
  context: AgentContext;
};

/** @param programs Shell scripts by name: programs on the sandbox's PATH, before those of this machine. */
export async function startAttempt(
  prompt: string,
  given: Partial<AgentContext> = {},
  programs: Readonly<Record<string, string>> = {},
): Promise<TestAttempt> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-test-'));
  const workdir = join(folder, 'work');
  const outputDir = join(folder, 'out');
  const promptFile = join(folder, 'prompt.md');
  await mkdir(workdir);
  await mkdir(outputDir);
  const stateDir = join(folder, 'state');
  await mkdir(stateDir);
  const bin = join(folder, 'programs');
  await mkdir(bin);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  await writeFile(promptFile, prompt);
  const provider = await createProcessSandboxProvider({
    scratch: join(folder, 'scratch'),
    parentEnvironment: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
  });
  const sandbox = await provider.start({ workdir, env: {} });
  const emitted: StreamEvent[] = [];
  const context: AgentContext = {
    signal: new AbortController().signal,
    flags: {},
    session: { isNew: true },
    log: () => {},
    sandbox,
    emit: (event) => emitted.push(event),
    files: {
      promptFile,
      outputDir,
      stateDir,
      stdoutFile: join(folder, 'stdout.log'),
      stderrFile: join(folder, 'stderr.log'),
      taskId: 'task-1',
      variant: 'baseline',
    },
    timeoutMs: 20_000,
    ...given,
  };
  return {
    folder,
    workdir,
    sandbox,
    emitted,
    context,
    async [Symbol.asyncDispose]() {
      await sandbox.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Runner = 'command' | 'driver' | 'module' | 'loop';
type Given = Partial<Omit<AgentConfig, 'runner'>> & {
  [Option in keyof Omit<CommandAgentConfig, keyof AgentConfig>]?: CommandAgentConfig[Option];
} & { driver?: DriverOptions; module?: ModuleOptions; loop?: LoopOptions };

/** A whole configuration from what a test wants to say of it; how the agent is run follows from what is given. */
export function agentConfig(given: Given): AgentConfig {
  const runner: Runner = given.driver ? 'driver' : given.module ? 'module' : given.loop ? 'loop' : 'command';
  const telemetry = { collector: 'none', file: 'telemetry.json', environmentVariable: 'TELEMETRY_FILE' };
  return {
    name: 'test-agent',
    kind: 'custom',
    timeoutSeconds: 60,
    network: 'disabled',
    env: {},
    runner,
    ...(runner === 'command' && { telemetry }),
    ...given,
  } as AgentConfig;
}
