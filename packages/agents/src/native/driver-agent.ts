import { homedir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { present } from '@whetstone/events/present';
import { createMask, type Sandbox } from '@whetstone/sandbox';
import { type Agent, type AgentContext, defineSandboxAgent, type TurnInput } from '../agent.ts';
import type { DriverAgentConfig } from '../config.ts';
import { locateProgram, unpackedBeside } from '../install/installed-agents.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import { inheritFiles } from '../kit/inherit-files.ts';
import { leadsToGateway } from '../kit/leads-to-gateway.ts';
import { placeContext, placeOf, pluginFolders } from '../kit/place-context.ts';
import { runTurn, type TurnLaunch } from '../kit/run-turn.ts';
import { noTelemetry } from '../kit/telemetry/telemetry-collector.ts';
import { createTurnReader, type TurnReader } from '../kit/turn-reader.ts';
import { type ModelProvider, modelProviderOf } from './model-provider.ts';
import type { Connection, DrivenAgent, LaunchSettings, TurnRequest } from './native-agent.ts';
import { drivenAgents } from './native-agents.ts';
import { takesOutputSchema } from './takes-output-schema.ts';

type Driven = {
  config: DriverAgentConfig;
  /** Absolute path of the agent's program. */
  program: string;
  /** The folder that its installation unpacked, if any. */
  unpacked: string | undefined;
  /** Absent when every attempt has a lane. */
  provider: ModelProvider | undefined;
  environment: AgentEnvironment;
  /** The user's own home, from which `inherit` takes files. */
  userHome: string;
};

/**
 * A released agent that Whetstone starts itself, with its own HOME and settings in the sandbox. Its JSON stream is read
 * as it arrives, and the stream decides whether the turn succeeded, not the exit code. A missing program or key is an
 * error here, before anything runs.
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
  const readers = new WeakMap<Sandbox, TurnReader>();
  return defineSandboxAgent({
    name: config.name,
    capabilities: {
      conversation: true,
      toolObservability: true,
      structuredOutput: takesOutputSchema(config) === true,
    },
    async send(input, context) {
      const { session, sandbox } = context;
      const model = config.driver.model ?? context.model ?? agent.release.defaultModel;
      const settings = agent.launch.settings(connectionOf(driven, context, model));
      if (session.isNew) await prepareHome(context, settings, driven);
      const { args, stdin } = await turnArguments(agent, { input, context, model });
      const launch: TurnLaunch = {
        run: (options) => sandbox.runCommand(program, [...(settings.args ?? []), ...args], options),
        env: { ...settings.env, ...environment.env },
        mask: createMask([...secrets, ...(context.declared?.secrets ?? [])]),
        program,
        ...(stdin !== undefined && { stdin: Readable.from([stdin]) }),
      };
      const place = placeOf(context);
      const reader =
        readers.get(sandbox) ??
        createTurnReader({ agent, runtime: agent.kind, stream: 'always', place, home: sandbox.home });
      readers.set(sandbox, reader);
      const onSession = (id: string): void => {
        session.id = id;
      };
      return await runTurn(
        { config, agent, reader, place, telemetry: noTelemetry, onSession },
        launch,
        input,
        context,
      );
    },
  });
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

/** Inherited files come first, so that they cannot overwrite the settings that isolate a run. */
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

async function turnArguments(
  agent: DrivenAgent,
  turn: { input: TurnInput; context: AgentContext & { sandbox: Sandbox }; model: string },
): Promise<ReturnType<DrivenAgent['launch']['turn']>> {
  const { input, model } = turn;
  const { sandbox, session } = turn.context;
  return agent.launch.turn({
    prompt: input.text,
    model,
    workingDirectory: sandbox.workdir,
    ...present({
      resume: session.isNew ? undefined : session.id,
      outputSchema: await placeSchema(input, sandbox),
    }),
  });
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
