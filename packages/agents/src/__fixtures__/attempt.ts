// One attempt for tests of agents: real folders, a real process sandbox, and a context that records events.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import type { Sandbox } from '@whetstone/sandbox';
import type { AgentContext } from '../agent.ts';
import type {
  AgentConfig,
  CommandAgentConfig,
  DriverOptions,
  LoopOptions,
  ModuleOptions,
} from '../config.ts';
import { contextIn, openPlace } from '../drive/session-place.ts';

export type TestAttempt = AsyncDisposable & {
  folder: string;
  workdir: string;
  sandbox: Sandbox;
  emitted: StreamEvent[];
  context: AgentContext;
};

/**
 * @param programs Shell scripts by name, or a folder of programs: on the sandbox's PATH, before those of this machine.
 */
export async function startAttempt(
  prompt: string,
  given: Partial<AgentContext> = {},
  programs: Readonly<Record<string, string>> | string = {},
): Promise<TestAttempt> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-test-'));
  const workdir = join(folder, 'work');
  await mkdir(workdir);
  const bin = typeof programs === 'string' ? programs : await writePrograms(join(folder, 'programs'), programs);
  const environment = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const place = await openPlace({ folder: workdir, environment });
  await writeFile(place.files.promptFile, prompt);
  const { sandbox } = place;
  if (!sandbox) throw new Error('The attempt of a test has a sandbox.');
  const emitted: StreamEvent[] = [];
  const context: AgentContext = {
    ...contextIn(place, { timeoutMs: 20_000 }),
    files: { ...place.files, taskId: 'task-1', variant: 'baseline' },
    signal: new AbortController().signal,
    session: { isNew: true },
    log: () => {},
    emit: (event) => emitted.push(event),
    ...given,
  };
  return {
    folder,
    workdir,
    sandbox,
    emitted,
    context,
    async [Symbol.asyncDispose]() {
      await place[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Makes a folder of shell scripts, and resolves with it. */
export async function writePrograms(bin: string, programs: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(bin);
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return bin;
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
    env: {},
    runner,
    ...(runner === 'command' && { telemetry }),
    ...given,
  } as AgentConfig;
}
