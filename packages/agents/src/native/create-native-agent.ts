import { join } from 'node:path';
import { Readable } from 'node:stream';
import { present } from '@whetstone/events/present';
import type { CommandResult, RunOptions, Sandbox } from '@whetstone/sandbox';
import { createMask, type Mask } from '@whetstone/sandbox';
import { type Agent, type AgentContext, defineSandboxAgent, type TurnInput } from '../agent.ts';
import type { AgentConfig, CliAgentConfig } from '../config.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import { placeFolders, placeSkills, pluginFolders } from '../kit/declared-context.ts';
import { inheritFiles } from '../kit/inherit-files.ts';
import { readKeptEvents } from '../kit/kept-events.ts';
import type { MapperPlace, NativeMapper } from '../kit/native-mapper.ts';
import { readJsonLines } from '../kit/read-json-lines.ts';
import { toTurn } from '../kit/to-turn.ts';
import { createTurnEvents } from '../kit/turn-events.ts';
import { contextPlacesOf } from './context-places.ts';
import { mappers } from './mappers.ts';
import type { CliAgent, CliConnection, CliSettings, CliTurn } from './native-agent.ts';
import { takesOutputSchema } from './output-schema.ts';

/** How an agent reaches its model where the run has no gateway. */
export type CliProvider = { baseUrl: string; key: string };

export type CliAgentOptions = {
  config: AgentConfig & { cli: CliAgentConfig };
  /** Its absolute path. */
  program: string;
  /** What its installation has unpacked. */
  unpacked: string | undefined;
  /** Absent where every attempt has a lane. */
  provider: CliProvider | undefined;
  environment: AgentEnvironment;
  /** The user's own home, from which `inherit` takes files. */
  userHome: string;
};

/**
 * A released command line as an agent: a HOME and settings of its own in the sandbox, its JSON stream read as it comes,
 * and success by what the stream says of the turn, not by the exit code.
 */
export function createCliAgent(cli: CliAgent, options: CliAgentOptions): Agent {
  const { config, environment } = options;
  const secrets = [...environment.secrets, ...(options.provider ? [options.provider.key] : [])];
  const streams = sessionStreams(cli);
  return defineSandboxAgent({
    name: config.name,
    capabilities: {
      conversation: true,
      toolObservability: true,
      structuredOutput: takesOutputSchema(config) === true,
    },
    async send(input, context) {
      const { session } = context;
      const model = config.cli.model ?? context.model ?? cli.defaultModel;
      const settings = cli.settings(connectionOf(options, context, model));
      if (session.isNew) await prepareHome(context, settings, options);
      const mask = createMask([...secrets, ...(context.declared?.secrets ?? [])]);
      const turn = createTurnEvents(context);
      const place = placeOf(context);
      const mapper = streams.open(place, session);
      const startedAt = new Date().toISOString();
      const reader = readJsonLines(mapper, turn.add);
      const result = await runTurn(cli, options, { input, context, settings, model, mask, reader });
      const summary = reader.end();
      if (summary.sessionId !== undefined) {
        session.id = summary.sessionId;
        streams.keep(summary.sessionId, mapper);
      }
      const data = input.outputSchema && cli.answerIn?.(mapper);
      if (data !== undefined) summary.data = data;
      const kept = await readKeptEvents(cli, context, {
        ...{ sandbox: context.sandbox, program: options.program, place, startedAt },
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
function sessionStreams(cli: CliAgent) {
  const last = new Map<string, NativeMapper>();
  return {
    open(place: MapperPlace, { isNew, id = '' }: AgentContext['session']): NativeMapper {
      if (!cli.openStream) return mappers[cli.kind].stream(place);
      return cli.openStream(place, isNew ? 'new' : (last.get(id) ?? 'unread'));
    },
    keep(sessionId: string, mapper: NativeMapper): void {
      if (cli.openStream) last.set(sessionId, mapper);
    },
  };
}

function connectionOf(
  { config, provider, unpacked }: CliAgentOptions,
  { lane, sandbox, declared }: AgentContext & { sandbox: Sandbox },
  model: string,
): CliConnection {
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
  { sandbox, declared, log }: AgentContext & { sandbox: Sandbox },
  { files }: CliSettings,
  { config, userHome }: CliAgentOptions,
): Promise<void> {
  const inherited = await inheritFiles(sandbox, userHome, config.cli.inherit);
  if (inherited.length > 0) log(`Inherited from the user's home: ${inherited.join(', ')}`);
  for (const [path, content] of Object.entries(files)) await sandbox.writeFiles({ [`~/${path}`]: content });
  const { skills, plugins } = contextPlacesOf(config);
  if (declared && skills !== undefined) await placeSkills(sandbox, skills, declared.skills);
  if (declared && plugins !== undefined) await placeFolders(sandbox, plugins, declared.plugins);
}

type TurnRun = {
  input: TurnInput;
  context: AgentContext & { sandbox: Sandbox };
  settings: CliSettings;
  model: string;
  mask: Mask;
  reader: { push(chunk: Buffer): void };
};

async function runTurn(
  cli: CliAgent,
  { program, environment }: CliAgentOptions,
  { input, context, settings, model, mask, reader }: TurnRun,
): Promise<CommandResult> {
  const { sandbox, session, files } = context;
  const resume = session.isNew ? undefined : session.id;
  const outputSchema = await placeSchema(input, sandbox);
  const { args, stdin } = cli.turn({
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
): Promise<CliTurn['outputSchema'] | undefined> {
  if (!outputSchema) return undefined;
  const text = JSON.stringify(outputSchema);
  await sandbox.writeFiles({ [`~/${SCHEMA_FILE}`]: text });
  return { text, file: join(sandbox.home, SCHEMA_FILE) };
}
