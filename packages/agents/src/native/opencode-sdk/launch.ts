import { WhetstoneError } from '@whetstone/errors';
import { type JsonObject, parseJson } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, textIn } from '../../kit/fields.ts';
import { sdkDialogue, staysOpen } from '../../kit/sdk-dialogue.ts';
import { sdkItems } from '../../kit/sdk-items.ts';
import { openPermissions, type Permissions } from '../../policy/permissions.ts';
import type { DialogueTurn, Launch } from '../native-agent.ts';
import { launch as cli } from '../opencode-cli/launch.ts';
import type { OpencodeSdkRequest } from './bridge.ts';
import { decideCall } from './decide-call.ts';
import { attaches, facts, isOpen } from './facts.ts';
import type { OpencodeAgent, OpencodeSdkOptions } from './options.ts';
import type { SessionRule } from './users-server.ts';

/** On a server of the user, the bridge deletes the sessions that it made when the case ends. */
const stays = (options: JsonObject): boolean => staysOpen(options) || isAttached(options);

export const launch: Launch = {
  settings(connection) {
    const { permissions, options } = connection;
    if (isAttached(options)) return { env: {}, files: {} };
    const { env, ...own } = cli.settings({ ...connection, permissions: openPermissions });
    const ownOptions = (options ?? {}) as OpencodeSdkOptions;
    const given = objectIn(parseJson(env.OPENCODE_CONFIG_CONTENT ?? '')) ?? {};
    return {
      ...own,
      env: {
        ...env,
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          ...describingModel(given, ownOptions),
          ...asking(permissions, ownOptions),
        }),
        // The settings, tools and agents of the repository.
        ...(permissions.apps === 'off' && { OPENCODE_DISABLE_PROJECT_CONFIG: '1' }),
      },
    };
  },
  turn: () => [],
  stays,
  dialogue: sdkDialogue(
    async (turn) => ({
      request: await requestOf(turn),
      async answer(question) {
        const why = textIn(question.unusable);
        if (why !== undefined) throw unusableServer(turn, why);
        return await decideCall(question, turn);
      },
    }),
    stays,
  ),
};

const isAttached = (options: JsonObject = {}): boolean => options[attaches.option] !== undefined;

/**
 * OpenCode asks about each call of a tool but those that change nothing by themselves. A path outside the workspace has no
 * question of its own, because each tool names its paths.
 */
function asking({ shell, network }: Permissions, { agents = {} }: OpencodeSdkOptions = {}) {
  return {
    permission: {
      ...{ '*': 'ask', external_directory: 'allow', doom_loop: 'deny', question: 'allow', skill: 'allow' },
      ...{ task: 'allow', todoread: 'allow', todowrite: 'allow', lsp: 'allow' },
      ...(shell === 'off' && { bash: 'deny' }),
      // A search runs at the provider.
      ...(network === 'off' && { websearch: 'deny', codesearch: 'deny' }),
    },
    agent: { ...OWN_AGENTS, ...Object.fromEntries(Object.entries(agents).map(agentEntry)) },
  };
}

/** What its own agents cannot do stays so. */
const OWN_AGENTS: Readonly<Record<string, { permission: Record<string, 'deny'> }>> = {
  plan: { permission: { edit: 'deny' } },
  general: { permission: { question: 'deny', todowrite: 'deny' } },
  explore: { permission: { edit: 'deny', question: 'deny', task: 'deny', todowrite: 'deny' } },
};

/** An agent of the configuration asks as every other does, and has nothing that one of OpenCode by its name is denied. */
function agentEntry([name, { deny = [], ...given }]: [string, OpencodeAgent]) {
  const denied = Object.fromEntries(deny.map((tool) => [tool, 'deny'] as const));
  return [name, { ...given, permission: { ...OWN_AGENTS[name]?.permission, ...denied } }] as const;
}

/**
 * OpenCode leaves out images, a temperature and a variant for a model that is not said to take them. Nothing is known of a
 * model of the gateway, so it is said to take what is asked of it; a variant is an effort.
 */
export function describingModel(
  { provider, ...config }: JsonObject,
  options: OpencodeSdkOptions = {},
): JsonObject {
  const gateway = objectIn(objectIn(provider)?.gateway);
  if (!gateway) return present({ ...config, provider });
  const { agents = {}, variant } = options;
  const hasTemperature = Object.values(agents).some(({ temperature }) => temperature !== undefined);
  const takes = {
    attachment: true,
    modalities: { input: ['text', 'image'], output: ['text'] },
    ...(hasTemperature && { temperature: true }),
    ...(variant !== undefined && { reasoning: true, variants: { [variant]: { reasoningEffort: variant } } }),
  };
  const models = Object.entries(objectIn(gateway.models) ?? {}).map(([name, model]) => [
    name,
    { ...objectIn(model), ...takes },
  ]);
  return { ...config, provider: { gateway: { ...gateway, models: Object.fromEntries(models) } } };
}

function unusableServer({ options }: DialogueTurn, why: string): WhetstoneError {
  const { server_url: url = '' } = options as OpencodeSdkOptions;
  const message = `The server of OpenCode at ${url} cannot be used: ${why}.`;
  return new WhetstoneError('agent-server-unusable', message, {
    hint: 'Start it on this machine, and check server_url and OPENCODE_SERVER_PASSWORD in env.',
  });
}

/** What a session on a server of the user asks about, whatever the server allows. The last rule that fits counts. */
function sessionRules(permissions: Permissions): SessionRule[] {
  const { permission } = asking(permissions);
  // The session of a sub-agent does not have the rules of this one.
  return Object.entries({ ...permission, task: 'deny' }).map(([name, action]) => ({
    ...{ permission: name, pattern: '*' },
    action,
  }));
}

/** Longer than a server that runs needs for its first answer about a workspace. */
const ANSWER_SECONDS = 30;

function serverOf({ options, workingDirectory, permissions }: DialogueTurn): OpencodeSdkRequest['server'] {
  const { server_url: url, ...given } = options as OpencodeSdkOptions;
  if (url === undefined) return undefined;
  const { keep_session: keeps = false, server_timeout_seconds: timeoutSeconds = ANSWER_SECONDS } = given;
  return { url, keeps, timeoutSeconds, directory: workingDirectory, rules: sessionRules(permissions) };
}

async function requestOf(turn: DialogueTurn): Promise<OpencodeSdkRequest> {
  const { input, permissions, resume, connection } = turn;
  const server = serverOf(turn);
  const options = turn.options as OpencodeSdkOptions;
  const session = resume ?? options.resume;
  return {
    items: await sdkItems(input, turn.workingDirectory),
    program: connection.starts ?? '',
    ...present({ server }),
    repository: permissions.apps === 'off' || (server && !isOpen(permissions)) ? 'instructions' : 'all',
    instructions: (facts.reads ?? []).map(({ path }) => path),
    // Without a title, OpenCode asks the model for one.
    session: { title: 'task' },
    prompt: present({
      model: modelOf(turn),
      // Its rules are known only by its name.
      agent: options.agent ?? (server && 'build'),
      variant: options.variant,
      system: options.system,
      format: input.outputSchema && { type: 'json_schema', schema: input.outputSchema },
    }),
    ...present({ resume: session }),
    forks: session !== undefined && options.fork_session === true,
  };
}

/** With a key, the provider is the one of the settings; with a login or a server, the model names it: `anthropic/claude-sonnet-4-5`. */
function modelOf({ model, access }: DialogueTurn): { providerID: string; modelID: string } | undefined {
  if (model === undefined) return undefined;
  const [providerID = '', ...rest] = access === 'key' ? ['gateway', model] : model.split('/');
  return { providerID, modelID: rest.join('/') };
}
