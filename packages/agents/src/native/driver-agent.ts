import { homedir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { AgentFacts } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { createMask, isSecretName, type RunOptions, type Sandbox } from '@whetstone/sandbox';
import { type Agent, type AgentContext, defineSandboxAgent, type TurnInput } from '../agent.ts';
import type { DriverAgentConfig } from '../config.ts';
import { locateProgram, startOf, unpackedBeside } from '../install/installed-agents.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import { type KeptProgram, type Peer, runDialogue } from '../kit/dialogue.ts';
import { inheritFiles } from '../kit/inherit-files.ts';
import { refuseUnsupported } from '../kit/input-items.ts';
import { learnSecret } from '../kit/learned-secrets.ts';
import { createOutputReader, type OutputReader } from '../kit/output-reader.ts';
import { placeContext, placeOf, pluginFolders } from '../kit/place-context.ts';
import { runTurn, type TurnLaunch } from '../kit/run-turn.ts';
import { noTelemetry } from '../kit/telemetry/telemetry-collector.ts';
import { createPolicy } from '../policy/decide.ts';
import { type Permissions, permissionsOf } from '../policy/permissions.ts';
import { attachedServer, requireNamedModel } from './attached-server.ts';
import { checkOptions } from './check-options.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import { keepRefreshedLogin } from './keep-refreshed-login.ts';
import { type Login, tokensIn } from './login.ts';
import type { Connection, DialogueTurn, LaunchSettings, TurnRequest } from './native-agent.ts';
import { enforcerOf } from './native-agents.ts';
import { openAccess, requireModel } from './open-access.ts';
import { takesOutputSchema } from './takes-output-schema.ts';

/**
 * A released agent that Whetstone starts itself, with its own HOME and settings in the sandbox. Its JSON stream is read
 * as it arrives, and the stream decides whether the turn succeeded, not the exit code. A missing program or key is an
 * error here, before anything runs.
 *
 * @throws WhetstoneError `agent-not-installed`, `agent-key-missing`, `agent-login-missing`, `agent-model-missing`
 */
export async function createDriverAgent(
  config: DriverAgentConfig,
  { env, secrets }: AgentEnvironment,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): Promise<Agent> {
  const agent = drivenAgentOf(config);
  checkOptions(config, agent);
  const server = attachedServer(config);
  const permissions = permissionsOf(enforcerOf(agent, config.driver.options), config.driver.permissions);
  const inherited = permissions.environment === 'inherit' ? withoutFolders(user.environment) : {};
  const inheritedSecrets = Object.entries(inherited).flatMap(([name, value]) =>
    isSecretName(name) ? [value] : [],
  );
  for (const secret of inheritedSecrets) learnSecret(secret);
  const program = await locateProgram(agent, config.driver.version, user.environment);
  const [file, ...first] = startOf(agent, program);
  const unpacked = unpackedBeside(program);
  const { starts: behind } = agent.release;
  const starts =
    behind && server === undefined ? await locateProgram(behind, undefined, user.environment) : undefined;
  requireModel(config);
  const accessOf = openAccess(config, user);
  const readers = new WeakMap<Sandbox, OutputReader>();
  const given = new WeakMap<Sandbox, Login>();
  const kept = new WeakMap<Sandbox, KeptProgram>();
  const stays = agent.launch.stays?.(config.driver.options ?? {}) ?? false;
  const keptOf = (sandbox: Sandbox): KeptProgram | undefined => {
    if (stays && !kept.has(sandbox)) kept.set(sandbox, {});
    return kept.get(sandbox);
  };
  return defineSandboxAgent({
    name: config.name,
    capabilities: {
      conversation: true,
      toolObservability: true,
      structuredOutput: takesOutputSchema(config) === true,
    },
    async send(input, context) {
      const { session, sandbox, declared, log } = context;
      const { home } = sandbox;
      // A server of the user is not in the sandbox.
      const workdir = server === undefined ? sandbox.workdir : sandbox.hostPath(sandbox.workdir);
      refuseUnsupported(input, agent.facts.inputs, config.name);
      const { access, login, secrets: accessSecrets, laneKey } = accessOf(context);
      for (const secret of accessSecrets) learnSecret(secret);
      const model = config.driver.model ?? context.model;
      if (server !== undefined) requireNamedModel(agent, config.name, model);
      const connection: Connection = {
        ...{ access, home, workingDirectory: workdir, permissions },
        ...(server === undefined && { place: sandbox }),
        ...present({ model, unpacked, starts, options: config.driver.options }),
        ...(declared && {
          mcpServers: declared.mcpServers,
          plugins: pluginFolders(declared.plugins, config, sandbox),
        }),
      };
      const settings = agent.launch.settings(connection);
      if (session.isNew) {
        await prepareHome(config, context, { settings, login, userHome: user.environment.HOME ?? homedir() });
        if (login) given.set(sandbox, login);
      }
      const request: TurnRequest = {
        ...{ access: access.kind, workingDirectory: workdir, permissions },
        ...present({
          model,
          resume: session.isNew ? undefined : session.id,
          outputSchema: await placeSchema(input, sandbox),
        }),
      };
      const args = agent.launch.turn(request);
      const reported: AgentFacts = {};
      const report = (facts: AgentFacts): void => void Object.assign(reported, facts);
      const { env: settingsEnv } = settings;
      const asked = { ...request, input, connection, env: settingsEnv, report };
      const dialogue = dialogueOf(config, asked, context);
      const run = (options: RunOptions) =>
        sandbox.runCommand(file, [...first, ...(settings.args ?? []), ...args], options);
      const launch: TurnLaunch = {
        run: dialogue
          ? (options, emit) =>
              runDialogue(run, options, (peer, leaving) => dialogue(peer, emit, leaving), keptOf(sandbox))
          : run,
        env: { ...inherited, ...settings.env, ...env },
        mask: createMask([
          ...secrets,
          ...inheritedSecrets,
          ...accessSecrets,
          ...(laneKey === undefined ? [] : [laneKey]),
          ...(given.get(sandbox)?.secrets ?? []),
          ...(declared?.secrets ?? []),
        ]),
        program,
        ...(!dialogue && { stdin: Readable.from([input.text]) }),
      };
      const place = { ...placeOf(context), workdir };
      const reader =
        readers.get(sandbox) ??
        createOutputReader({ agent, runtime: agent.kind, stream: 'always', place, home });
      readers.set(sandbox, reader);
      const onSession = (id: string): void => {
        session.id = id;
      };
      const setup = { config, agent, reader, place, telemetry: noTelemetry, onSession };
      try {
        const turn = await runTurn(setup, launch, input, context);
        const approvalPolicy = enforcerOf(agent).asks ? 'policy' : 'never';
        const held = { approvalPolicy, workingDir: workdir, ...turn.facts, ...reported };
        return { ...turn, facts: { ...held, ...heldTo(permissions, server) } };
      } finally {
        await keepLogin(given, sandbox, log);
      }
    },
  });
}

/** What the agent was held to. The environment of a user's server is its own. */
function heldTo({ environment, ...others }: Permissions, server: string | undefined): AgentFacts {
  return server === undefined
    ? { permissions: { ...others, environment } }
    : { permissions: others, reproducibility: 'external' };
}

/** The user's environment, without where the user's own files are: the agent has a home of its own. */
const withoutFolders = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !/^(?:HOME|PATH|PWD|OLDPWD|TMPDIR|TMP|TEMP|XDG_\w+)$/.test(entry[0]),
    ),
  );

/** How a turn is led with a program that is asked and answers; `undefined` for the others. */
function dialogueOf(
  config: DriverAgentConfig,
  turn: Pick<DialogueTurn, 'input' | 'connection' | 'env' | 'report'> & TurnRequest,
  { log, declared, ask }: AgentContext,
): ((peer: Peer, emit: AgentContext['emit'], signal: AbortSignal) => Promise<void>) | undefined {
  const { dialogue } = drivenAgentOf(config).launch;
  if (!dialogue) return undefined;
  const { driver } = config;
  const { permissions } = turn;
  const { policy: rules = [], options = {} } = driver;
  return (peer, emit, signal) => {
    const { mcpServers = [], place } = turn.connection;
    const servers = [
      ...(declared?.mcpServers ?? []).map(({ name }) => name),
      ...(declared?.plugins ?? []).flatMap((plugin) => plugin.mcpServers),
    ];
    const workdir = turn.workingDirectory;
    const decide = createPolicy({ permissions, rules, servers, workdir, place, emit, ask });
    return dialogue(peer, { ...turn, mcpServers, decide, signal, log, options });
  };
}

/** Inherited files come first, so that they cannot overwrite the settings that isolate a run. */
async function prepareHome(
  config: DriverAgentConfig,
  context: AgentContext & { sandbox: Sandbox },
  { settings, login, userHome }: { settings: LaunchSettings; login: Login | undefined; userHome: string },
): Promise<void> {
  const { sandbox, log } = context;
  const inherited = await inheritFiles(sandbox, userHome, config.driver.inherit);
  if (inherited.length > 0) log(`Inherited from the user's home: ${inherited.join(', ')}`);
  for (const [path, content] of Object.entries(settings.files))
    await sandbox.writeFiles({ [`~/${path}`]: content });
  if (login) log(`The agent has the login of ${login.place}.`);
  if (login?.file) {
    const { path, content } = login.file;
    await sandbox.uploadFiles([{ path: `~/${path}`, content, mode: 0o600 }]);
  }
  await placeContext(config, context);
}

/** Takes the login that the agent refreshed in its home back to the user, after each turn. */
async function keepLogin(
  given: WeakMap<Sandbox, Login>,
  sandbox: Sandbox,
  log: AgentContext['log'],
): Promise<void> {
  const login = given.get(sandbox);
  if (!login?.file) return;
  const { path, content } = login.file;
  const now = await sandbox.readFile(`~/${path}`).catch(() => content);
  const secrets = tokensIn(now);
  for (const token of secrets) learnSecret(token);
  const note = keepRefreshedLogin(login.place, content, now);
  if (note === undefined) return;
  log(note);
  given.set(sandbox, { ...login, secrets, file: { path, content: now } });
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
