import { present } from '@whetstone/events/present';
import { join } from 'node:path';
import { createGateway, defineScript } from '@whetstone/gateway';
import { type DrivenAgentKind, drivenAgentKinds } from '../../native/native-agents.ts';
import type { AgentConfig } from '../../config.ts';
import { agentConfig } from '../../__fixtures__/attempt.ts';
import { drivenAgents } from '../../native/native-agents.ts';
import { agentKeyVariable } from '../../kit/agent-secrets.ts';
import { createAgent } from '../../create-agent.ts';
import { openPermissions } from '../../policy/permissions.ts';
import type { ContractRow, CreateOptions } from './contract-row.ts';
import type { Scene } from './scene.ts';
import { promptOf } from './scene.ts';

const { NODE_COMPILE_CACHE } = process.env;

/** The bridges of SDKs start as often as the fake agents, and are compiled once as well. */
const create = (config: Parameters<typeof agentConfig>[0], { user, hasLanes = true, env }: CreateOptions) =>
  createAgent(agentConfig({ ...config, env: { ...present({ NODE_COMPILE_CACHE }), ...env } }), {
    environment: user,
    hasLanes,
  });

const ASKED = 'permissions.shell: ask';

/** A released agent that Whetstone drives itself. */
function drivenRow(kind: DrivenAgentKind): ContractRow {
  const access = { kind: 'key', baseUrl: '', key: '' } as const;
  const connection = { access, model: '', home: '/home', workingDirectory: '/', permissions: openPermissions };
  const { needsModel } = drivenAgents[kind].release;
  return {
    name: kind,
    runtime: kind,
    lastWord: 'stream',
    ...(drivenAgents[kind].facts.enforces?.shell?.includes('ask') && { rule: ASKED }),
    keyVariable: agentKeyVariable(agentConfig({ kind, driver: { inherit: [] } })) ?? 'none',
    settingsFiles: Object.keys(drivenAgents[kind].launch.settings(connection).files),
    create: (options) =>
      create(
        {
          kind,
          driver: {
            inherit: options.inherit ?? [],
            ...present({
              model: options.model ?? (needsModel && 'model-of-its-configuration'),
              permissions: options.permissions,
            }),
            ...(options.isMissing && { version: '0.0.1' }),
          },
        },
        options,
      ),
  };
}

/** A server of the user: the SDK talks to it, and nothing is started. */
const attachedRow: ContractRow = {
  ...drivenRow('opencode-sdk'),
  ...{ name: 'opencode-sdk with a server', settingsFiles: [], provider: 'provider/' },
  create: ({ model, permissions, isMissing, ...options }) =>
    create(
      {
        kind: 'opencode-sdk',
        driver: {
          ...{ inherit: [], options: { server_url: 'http://127.0.0.1:9' } },
          ...present({ model: model && `${attachedRow.provider}${model}`, permissions }),
          ...(isMissing && { version: '0.0.1' }),
        },
      },
      options,
    ),
};

/** A released agent that speaks a protocol. Each of them is driven in the same way. */
const protocolRow: ContractRow = {
  ...drivenRow('qwen-code'),
  ...{ name: 'acp', runtime: 'acp', rule: ASKED, own: { mode: 'default' } },
  create: ({ inherit = [], model, permissions, isMissing, ...options }) =>
    create(
      {
        kind: 'acp',
        driver: {
          ...{ agent: 'qwen-code', inherit },
          ...present({ model, permissions }),
          ...(isMissing && { version: '0.0.1' }),
        },
      },
      options,
    ),
};

/** A command of the user that speaks a protocol. */
const protocolCommandRow: ContractRow = {
  ...{ name: 'acp with a command', runtime: 'acp', rule: ASKED, lastWord: 'stream' },
  create: (options) =>
    create(
      {
        kind: 'acp',
        command: { kind: 'argv', argv: [options.isMissing ? 'no-such-agent' : 'qwen', '--acp'] },
      },
      options,
    ),
};

/** A command template with text output; bub also keeps a tape. */
function commandRow(kind: 'custom' | 'traecli' | 'coco' | 'bub'): ContractRow {
  return {
    name: kind,
    runtime: kind,
    lastWord: 'exit code',
    create: (options) =>
      create(
        {
          kind,
          command: {
            kind: 'argv',
            argv: [
              options.isMissing ? 'no-such-agent' : 'fake-agent',
              kind,
              '--prompt-file',
              '{prompt_file}',
              '--session-id',
              '{session_id}',
            ],
          },
        },
        options,
      ),
  };
}

/** An agent that a module exports. */
const moduleRow = (name: 'module' | 'ai-sdk-harness', file: string): ContractRow => ({
  ...{ name, runtime: 'custom', lastWord: 'stream' },
  create: (options) =>
    create(
      {
        kind: 'custom',
        module: {
          file: join(import.meta.dirname, options.isMissing ? 'no-module.ts' : file),
          ...present({ model: options.model }),
        },
      },
      options,
    ),
});

const harnessRow: ContractRow = {
  ...moduleRow('ai-sdk-harness', 'harness-module.ts'),
  ...{ runtime: 'ai-sdk-harness:fake', rule: 'default', own: { mode: 'allow-all' } },
};

/** Whetstone's own loop. Its model runs the fake agent in its shell. */
const loopRow: ContractRow = {
  name: 'loop',
  runtime: 'loop',
  lastWord: 'stream',
  keyVariable: 'OPENAI_API_KEY',
  create: (options) =>
    create(
      {
        kind: 'loop',
        loop: { profile: 'openai', ...present({ model: options.model }) },
      },
      options,
    ),
  openContext: openModel,
  hasOwnSession: true,
};

async function openModel(scene: Scene) {
  const gateway = await createGateway();
  const script = defineScript({
    name: 'contract',
    play({ toolResults, model, text }) {
      // The session id is the token of the first prompt in the conversation, reversed.
      const [, first = ''] = /"token":"([\w-]+)"/.exec(text) ?? [];
      const session = [...first].reverse().join('');
      const usage = { inputTokens: 10, outputTokens: 1 };
      if (scene.scene === 'structured output') return { data: { answer: scene.token } };
      const command = `printf %s '${promptOf(scene)}' | fake-agent text --model ${model} --session-id ${session}`;
      return toolResults.length === 0
        ? { text: 'I look around.', calls: [{ tool: 'shell', command }], usage }
        : { text: `Done ${scene.token}.`, usage };
    },
  });
  const lane = await gateway.open({
    owner: scene.token,
    mode: { kind: 'script', script },
    ...(scene.scene === 'failure' && { faults: [{ fault: { kind: 'status', status: 401 } }] }),
  });
  const env = { ...lane.env, OWN_OR_LANE: 'lane' };
  return {
    context: { lane: { baseUrl: lane.baseUrl, key: lane.key, env } },
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}

/** Every adapter has one row here; `not-applicable.ts` has the cases that do not apply to it. */
export const contractRows: readonly ContractRow[] = [
  ...drivenAgentKinds.map(drivenRow),
  attachedRow,
  protocolRow,
  protocolCommandRow,
  commandRow('custom'),
  commandRow('traecli'),
  commandRow('coco'),
  commandRow('bub'),
  moduleRow('module', 'module-agent.ts'),
  harnessRow,
  loopRow,
];
