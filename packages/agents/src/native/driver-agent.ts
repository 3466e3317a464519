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
import { modelProviderOf } from './model-provider.ts';
import type { LaunchSettings, TurnRequest } from './native-agent.ts';
import { drivenAgents } from './native-agents.ts';
import { takesOutputSchema } from './takes-output-schema.ts';

/**
 * A released agent that Whetstone starts itself, with its own HOME and settings in the sandbox. Its JSON stream is read
 * as it arrives, and the stream decides whether the turn succeeded, not the exit code. A missing program or key is an
 * error here, before anything runs.
 *
 * @throws WhetstoneError `agent-not-installed`, `agent-key-missing`
 */
export async function createDriverAgent(
  config: DriverAgentConfig,
  { env, secrets }: AgentEnvironment,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): Promise<Agent> {
  const agent = drivenAgents[config.kind];
  const program = await locateProgram(agent, config.driver.version, user.environment);
  const unpacked = unpackedBeside(program);
  const hasLane = user.hasLanes && leadsToGateway(config);
  const provider = hasLane ? undefined : modelProviderOf(config, user.environment);
  const ownSecrets = [...secrets, ...(provider ? [provider.key] : [])];
  const readers = new WeakMap<Sandbox, TurnReader>();
  return defineSandboxAgent({
    name: config.name,
    capabilities: {
      conversation: true,
      toolObservability: true,
      structuredOutput: takesOutputSchema(config) === true,
    },
    async send(input, context) {
      const { session, sandbox, declared, lane = provider } = context;
      if (!lane) throw new TypeError('The agent has neither a lane nor a provider.');
      const { workdir, home } = sandbox;
      const model = config.driver.model ?? context.model ?? agent.release.defaultModel;
      const settings = agent.launch.settings({
        ...{ baseUrl: lane.baseUrl, key: lane.key, model, home, workingDirectory: workdir },
        ...present({ unpacked }),
        ...(declared && {
          mcpServers: declared.mcpServers,
          plugins: pluginFolders(declared.plugins, config, sandbox),
        }),
      });
      if (session.isNew) await prepareHome(config, context, settings, user.environment.HOME ?? homedir());
      const args = agent.launch.turn({
        ...{ model, workingDirectory: workdir },
        ...present({
          resume: session.isNew ? undefined : session.id,
          outputSchema: await placeSchema(input, sandbox),
        }),
      });
      const launch: TurnLaunch = {
        run: (options) => sandbox.runCommand(program, [...(settings.args ?? []), ...args], options),
        env: { ...settings.env, ...env },
        mask: createMask([...ownSecrets, ...(declared?.secrets ?? [])]),
        program,
        stdin: Readable.from([input.text]),
      };
      const place = placeOf(context);
      const reader =
        readers.get(sandbox) ??
        createTurnReader({ agent, runtime: agent.kind, stream: 'always', place, home });
      readers.set(sandbox, reader);
      const onSession = (id: string): void => {
        session.id = id;
      };
      const setup = { config, agent, reader, place, telemetry: noTelemetry, onSession };
      const turn = await runTurn(setup, launch, input, context);
      // Every launch turns the agent's questions off: only the sandbox confines it.
      return { ...turn, facts: { approvalPolicy: 'never', ...turn.facts } };
    },
  });
}

/** Inherited files come first, so that they cannot overwrite the settings that isolate a run. */
async function prepareHome(
  config: DriverAgentConfig,
  context: AgentContext & { sandbox: Sandbox },
  { files }: LaunchSettings,
  userHome: string,
): Promise<void> {
  const { sandbox, log } = context;
  const inherited = await inheritFiles(sandbox, userHome, config.driver.inherit);
  if (inherited.length > 0) log(`Inherited from the user's home: ${inherited.join(', ')}`);
  for (const [path, content] of Object.entries(files)) await sandbox.writeFiles({ [`~/${path}`]: content });
  await placeContext(config, context);
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
