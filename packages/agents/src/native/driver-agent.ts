import { homedir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { present } from '@whetstone/events/present';
import { type CommandResult, createMask, type Mask, type RunOptions, type Sandbox } from '@whetstone/sandbox';
import { type Agent, type AgentContext, defineSandboxAgent, type TurnInput } from '../agent.ts';
import type { DriverAgentConfig } from '../config.ts';
import { locateProgram, unpackedBeside } from '../install/installed-agents.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import { inheritFiles } from '../kit/inherit-files.ts';
import { readKeptEvents } from '../kit/kept-events.ts';
import { leadsToGateway } from '../kit/leads-to-gateway.ts';
import type { MapperPlace, NativeMapper } from '../kit/native-mapper.ts';
import { placeContext, pluginFolders } from '../kit/place-context.ts';
import { readJsonLines } from '../kit/read-json-lines.ts';
import { toTurn } from '../kit/to-turn.ts';
import { createTurnEvents } from '../kit/turn-events.ts';
import { type ModelProvider, modelProviderOf } from './model-provider.ts';
import type { Connection, DrivenAgent, LaunchSettings, TurnRequest } from './native-agent.ts';
import { drivenAgents } from './native-agents.ts';
import { takesOutputSchema } from './takes-output-schema.ts';

type Driven = {
  config: DriverAgentConfig;
  /** The absolute path of its program. */
  program: string;
  /** What its installation has unpacked. */
  unpacked: string | undefined;
  /** Absent when every attempt has a lane. */
  provider: ModelProvider | undefined;
  environment: AgentEnvironment;
  /** The user's own home, from which `inherit` takes files. */
  userHome: string;
};

/**
 * A released agent that Whetstone starts itself, with a HOME and settings of its own in the sandbox. Its JSON stream is
 * read as it comes, and success is what the stream says of the turn, not the exit code. Its program and its provider are
 * known before anything runs.
 *
 * @throws WhetstoneError `agent-not-installed`, `agent-key-missing`
 */
export async function createDriverAgent(
  config: DriverAgentConfig,
  environment: AgentEnvironment,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): Promise<Agent> {
  const agent = drivenAgents[config.kind];
  const program = await locateProgram(agent, config.driver.version, user.environment);
  const usesLane = user.hasLanes && leadsToGateway(config);
  return drive(agent, {
    config,
    program,
    unpacked: await unpackedBeside(program),
    provider: usesLane ? undefined : modelProviderOf(config, user.environment),
    environment,
    userHome: user.environment.HOME ?? homedir(),
  });
}

function drive(agent: DrivenAgent, driven: Driven): Agent {
  const { config, environment, program } = driven;
  const secrets = [...environment.secrets, ...(driven.provider ? [driven.provider.key] : [])];
  const streams = sessionStreams(agent);
  return defineSandboxAgent({
    name: config.name,
    capabilities: {
      conversation: true,
      toolObservability: true,
      structuredOutput: takesOutputSchema(config) === true,
    },
    async send(input, context) {
      const { session } = context;
      const model = config.driver.model ?? context.model ?? agent.release.defaultModel;
      const settings = agent.launch.settings(connectionOf(driven, context, model));
      if (session.isNew) await prepareHome(context, settings, driven);
      const mask = createMask([...secrets, ...(context.declared?.secrets ?? [])]);
      const turn = createTurnEvents(context);
      const place = placeOf(context);
      const mapper = streams.open(place, session);
      const startedAt = new Date().toISOString();
      const reader = readJsonLines(mapper, turn.add);
      const result = await runTurn(agent, driven, { input, context, settings, model, mask, reader });
      const summary = reader.end();
      if (summary.sessionId !== undefined) {
        session.id = summary.sessionId;
        streams.keep(summary.sessionId, mapper);
      }
      const data = input.outputSchema && agent.stream.answerIn?.(mapper);
      if (data !== undefined) summary.data = data;
      const kept = await readKeptEvents(agent, context, {
        ...{ sandbox: context.sandbox, program, place, startedAt },
        ...{ events: turn.events, summary },
        options: { env: { ...settings.env, ...environment.env }, mask },
      });
      for (const event of kept ?? []) turn.add(event);
      return toTurn(config, turn, result, { ...summary, kept });
    },
  });
}

const placeOf = ({ sandbox, declared }: AgentContext & { sandbox: Sandbox }): MapperPlace => ({
  workdir: sandbox.workdir,
  ...(declared && { mcpServers: declared.mcpServers.map(({ name }) => name) }),
});

/** What reads each turn's output. A harness that was started again has read nothing of a session that goes on. */
function sessionStreams(agent: DrivenAgent) {
  const last = new Map<string, NativeMapper>();
  return {
    open(place: MapperPlace, { isNew, id = '' }: AgentContext['session']): NativeMapper {
      return agent.stream.open(place, isNew ? 'new' : (last.get(id) ?? 'unread'));
    },
    keep(sessionId: string, mapper: NativeMapper): void {
      last.set(sessionId, mapper);
    },
  };
}

function connectionOf(
  { config, provider, unpacked }: Driven,
  { lane, sandbox, declared }: AgentContext & { sandbox: Sandbox },
  model: string,
): Connection {
  const place = {
    model,
    home: sandbox.home,
    workingDirectory: sandbox.workdir,
    ...present({ unpacked }),
    ...(declared && {
      mcpServers: declared.mcpServers,
      plugins: pluginFolders(declared.plugins, config, sandbox),
    }),
  };
  if (lane) return { baseUrl: lane.baseUrl, key: lane.key, ...place };
  if (!provider) throw new TypeError('The agent has neither a lane nor a provider.');
  return { ...provider, ...place };
}

/** What is inherited comes first: the settings that keep a run to itself are not the user's to change by accident. */
async function prepareHome(
  context: AgentContext & { sandbox: Sandbox },
  { files }: LaunchSettings,
  { config, userHome }: Driven,
): Promise<void> {
  const { sandbox, log } = context;
  const inherited = await inheritFiles(sandbox, userHome, config.driver.inherit);
  if (inherited.length > 0) log(`Inherited from the user's home: ${inherited.join(', ')}`);
  for (const [path, content] of Object.entries(files)) await sandbox.writeFiles({ [`~/${path}`]: content });
  await placeContext(config, context);
}

type TurnRun = {
  input: TurnInput;
  context: AgentContext & { sandbox: Sandbox };
  settings: LaunchSettings;
  model: string;
  mask: Mask;
  reader: { push(chunk: Buffer): void };
};

async function runTurn(
  agent: DrivenAgent,
  { program, environment }: Driven,
  { input, context, settings, model, mask, reader }: TurnRun,
): Promise<CommandResult> {
  const { sandbox, session, files } = context;
  const resume = session.isNew ? undefined : session.id;
  const outputSchema = await placeSchema(input, sandbox);
  const { args, stdin } = agent.launch.turn({
    prompt: input.text,
    model,
    workingDirectory: sandbox.workdir,
    ...present({ resume, outputSchema }),
  });
  const options: RunOptions = {
    env: { ...settings.env, ...environment.env },
    signal: context.signal,
    timeoutMs: context.timeoutMs,
    stdoutFile: files.stdoutFile,
    stderrFile: files.stderrFile,
    mask,
    onStdout: reader.push,
    ...(stdin !== undefined && { stdin: Readable.from([stdin]) }),
  };
  return await sandbox.runCommand(program, [...(settings.args ?? []), ...args], options);
}

const SCHEMA_FILE = '.output-schema.json';

async function placeSchema(
  { outputSchema }: TurnInput,
  sandbox: Sandbox,
): Promise<TurnRequest['outputSchema'] | undefined> {
  if (!outputSchema) return undefined;
  const text = JSON.stringify(outputSchema);
  await sandbox.writeFiles({ [`~/${SCHEMA_FILE}`]: text });
  return { text, file: join(sandbox.home, SCHEMA_FILE) };
}
