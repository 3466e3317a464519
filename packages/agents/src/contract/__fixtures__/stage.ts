import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { replyText } from '@whetstone/events';
import { drivenAgentKinds } from '../../native/native-agents.ts';
import { startAttempt, type TestAttempt, writePrograms } from '../../__fixtures__/attempt.ts';
import type { Agent, AgentContext, Turn } from '../../agent.ts';
import type { DrivenAgent } from '../../native/native-agent.ts';
import { drivenAgents } from '../../native/native-agents.ts';
import { bundleFakes } from './bundle-fakes.ts';
import type { ContractRow, CreateOptions } from './contract-row.ts';
import { answerSchema, promptOf, type SceneName, type Seen } from './scene.ts';

/** The fake agent starts hundreds of times and is compiled once. */
const COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? '';
/** `--acp` starts the one that speaks a protocol. */
const fake = (folder: string, format: string): string =>
  `export NODE_COMPILE_CACHE='${COMPILE_CACHE}'
[ "$1" != --acp ] || exec '${process.execPath}' '${join(folder, 'fake-acp-agent.mjs')}' "$@"
exec '${process.execPath}' '${join(folder, 'fake-agent.mjs')}' ${format} "$@"`;

/** Programs for the PATH: one with the name of each released agent, and one for commands and adapters. */
export const fakePrograms = once(async (): Promise<Readonly<Record<string, string>>> => {
  const folder = await bundleFakes();
  return {
    ...Object.fromEntries(
      drivenAgentKinds
        .filter((kind) => drivenAgents[kind].release.installedAs === undefined)
        .map((kind) => [drivenAgents[kind].release.program, fake(folder, kind)]),
    ),
    // Its first argument is the format.
    'fake-agent': fake(folder, ''),
  };
});

/** The environment of an adapter: a user with a home and programs, and attempts. */
export type Stage = AsyncDisposable & {
  /** The user's environment, with a secret that no agent gets. */
  user: NodeJS.ProcessEnv;
  /** An attempt that ends with the stage. */
  newAttempt(): Promise<TestAttempt>;
  /** Plays a scene in its own attempt, which ends with the stage. */
  play(scene: SceneName, options?: PlayOptions): Promise<Play>;
};

export type PlayOptions = Omit<CreateOptions, 'user' | 'hasLanes' | 'isMissing'> & {
  agent?: Agent;
  context?: Partial<AgentContext>;
  /** Called when the turn has begun. */
  onStart?: (attempt: TestAttempt, token: string) => void;
  /** Default: a new one. */
  attempt?: TestAttempt;
};

export type Play = {
  agent: Agent;
  attempt: TestAttempt;
  /** A text in the prompt that the agent repeats in its files and messages. */
  token: string;
  turn: Turn;
  reply: string;
  /** What the fake agent saw when it started. */
  seen(): Promise<Seen>;
  /** Everything that is stored of the turn, as text. */
  kept(): Promise<string>;
};

export const userSecret = 'sk-of-the-user-0123456789';
export const teamSecret = 'sk-of-the-team-9876543210';

export async function openStage(row: ContractRow): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-'));
  const programs = await writePrograms(join(folder, 'programs'), await fakePrograms());
  const home = join(folder, 'home');
  await mkdir(join(home, '.team/keys'), { recursive: true });
  await writeFile(join(home, '.team/login.json'), '{"login":"team"}');
  await writeFile(join(home, '.team/keys/private'), 'key', { mode: 0o600 });
  const cache = join(folder, 'cache');
  for (const kind of drivenAgentKinds) await installFakeSdk(drivenAgents[kind], cache);
  const user = {
    PATH: `${programs}${delimiter}${process.env.PATH}`,
    HOME: home,
    XDG_CACHE_HOME: cache,
    SOMETHING_OF_THE_USER: userSecret,
    TEAM_SECRET: teamSecret,
  };
  const attempts = new Set<TestAttempt>();

  async function newAttempt(): Promise<TestAttempt> {
    const attempt = await startAttempt('', {}, programs);
    attempts.add(attempt);
    return attempt;
  }

  async function play(scene: SceneName, options: PlayOptions = {}): Promise<Play> {
    const { agent, context, onStart, attempt: earlier, ...creation } = options;
    const token = randomUUID();
    const prompt = promptOf({ scene, token });
    const attempt = earlier ?? (await newAttempt());
    await writeFile(attempt.context.files.promptFile, prompt);
    const playing = agent ?? (await row.create({ user, ...creation }));
    await using opened = await (row.openContext ?? emptyLane)({ scene, token });
    const asked = scene === 'structured output' ? { outputSchema: answerSchema } : {};
    const logged: string[] = [];
    const log = (message: string): void => void logged.push(message);
    const sent = playing.send({ text: prompt, ...asked }, { ...attempt.context, log, ...opened.context, ...context });
    onStart?.(attempt, token);
    const turn = await sent;
    return {
      agent: playing,
      attempt,
      token,
      turn,
      reply: replyText(turn.events),
      seen: once(async () => JSON.parse(await attempt.sandbox.readFile(`seen-${token}.json`))),
      kept: async () => [...logged, await keptOf(attempt, turn)].join('\n'),
    };
  }

  return {
    user,
    newAttempt,
    play,
    async [Symbol.asyncDispose]() {
      for (const attempt of attempts) await attempt[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** For an agent behind an SDK, puts a module in the user's cache that has the surface of the SDK. */
async function installFakeSdk({ kind, release: { entry, package: name } }: DrivenAgent, cache: string): Promise<void> {
  if (!('module' in entry)) return;
  const modules = join(cache, 'whetstone/agents', kind, '9.9.9/node_modules');
  await mkdir(join(modules, entry.module, '..'), { recursive: true });
  await writeFile(join(modules, name, 'package.json'), JSON.stringify({ name, version: '9.9.9', type: 'module' }));
  await writeFile(join(modules, entry.module), `export * from '${join(import.meta.dirname, 'fake-sdk.ts')}';\n`);
}

async function emptyLane(): Promise<{ context: Partial<AgentContext> } & AsyncDisposable> {
  const lane = { baseUrl: 'http://127.0.0.1:9/lanes/a', key: 'lane-key', env: { OWN_OR_LANE: 'lane' } };
  return { context: { lane }, [Symbol.asyncDispose]: async () => {} };
}

async function keptOf({ context, emitted }: TestAttempt, turn: Turn): Promise<string> {
  const { stdoutFile, stderrFile, outputDir } = context.files;
  const outputs = (await readdir(outputDir)).map((name) => join(outputDir, name));
  const texts = await Promise.all(
    [stdoutFile, stderrFile, ...outputs].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  return [JSON.stringify({ turn, emitted }), ...texts].join('\n');
}

/** Makes a value on first use. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
