import { present } from '@whetstone/events/present';
import { join } from 'node:path';
import { createGateway, defineScript } from '@whetstone/gateway';
import { type DrivenAgentKind, drivenAgentKinds } from '../../native/native-agents.ts';
import type { AgentConfig } from '../../config.ts';
import { agentConfig } from '../../__fixtures__/attempt.ts';
import { drivenAgents } from '../../native/native-agents.ts';
import { agentKeyVariable } from '../../kit/agent-key-variable.ts';
import { createAgent } from '../../create-agent.ts';
import type { ContractRow, CreateOptions } from './contract-row.ts';
import type { Scene } from './scene.ts';
import { promptOf } from './scene.ts';

const create = (config: Parameters<typeof agentConfig>[0], { user, hasLanes = true, env }: CreateOptions) =>
  createAgent(agentConfig({ ...config, ...present({ env }) }), { environment: user, hasLanes });

const noInheritance = 'it takes nothing of the user’s home: that is for released command lines';

const STRUCTURED: readonly DrivenAgentKind[] = ['codex-cli', 'claude-code', 'qwen-code'];

/** A released agent that Whetstone drives itself. */
function drivenRow(kind: DrivenAgentKind): ContractRow {
  const connection = { baseUrl: '', key: '', model: '', home: '/home', workingDirectory: '/' };
  return {
    name: kind,
    runtime: kind,
    lastWord: 'stream',
    keyVariable: agentKeyVariable(agentConfig({ kind, driver: { inherit: [] } })) ?? 'none',
    settingsFiles: Object.keys(drivenAgents[kind].launch.settings(connection).files),
    create: (options) =>
      create(
        {
          kind,
          driver: {
            inherit: options.inherit ?? [],
            ...present({ model: options.model }),
            ...(options.isMissing && { version: '0.0.1' }),
          },
        },
        options,
      ),
    skips: {
      ...(!STRUCTURED.includes(kind) && { 'structured output is data': 'no option of its asks for a schema' }),
    },
  };
}

/** A command template with text output; bub also keeps a tape. */
function commandRow(kind: 'custom' | 'traecli' | 'coco' | 'bub'): ContractRow {
  const hasTape = kind === 'bub';
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
    skips: {
      'a missing key is named before anything starts':
        'it has no key, only the variables in `env`',
      'its settings and inherited files are there when it starts': noInheritance,
      'the model of the configuration reaches it': 'its command names the model',
      'the model of the turn reaches it': 'its command names the model',
      'structured output is data': 'its output is text',
      ...(hasTape && {
        'a secret in the output of a tool is masked in everything that is stored':
          'its tape is masked when a run writes its events (attempt/event-log.ts), not before',
      }),
      ...((kind === 'traecli' || kind === 'coco') && {
        '200 MB of output stay out of memory': 'the same code as custom',
      }),
      ...(!hasTape && {
        'its metadata is the same as that of every other agent': 'it reports no tool calls: no `toolObservability`',
      }),
    },
  };
}

const moduleRow: ContractRow = {
  name: 'module',
  runtime: 'custom',
  lastWord: 'stream',
  create: (options) =>
    create(
      {
        kind: 'custom',
        module: {
          file: join(
            import.meta.dirname,
            options.isMissing ? 'no-module.ts' : 'module-agent.ts',
          ),
          ...present({ model: options.model }),
        },
      },
      options,
    ),
  skips: {
    'a missing key is named before anything starts': 'the adapter reads its own keys',
    'its settings and inherited files are there when it starts': noInheritance,
    '200 MB of output stay out of memory': 'the adapter decides what it keeps in memory',
    'a secret in the output of a tool is masked in everything that is stored':
      'its events are masked when a run writes them (attempt/event-log.ts), not before',
  },
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
  skips: {
    'a missing program or module is named, with a hint how to get it': 'it is part of Whetstone',
    'its settings and inherited files are there when it starts': noInheritance,
    'a crash before it reports its end is a failed turn':
      'it runs in this process, and its model sees the crash of a tool',
    'after it reports its end, its exit code does not count': 'it runs in this process and has no exit code',
    'output that is not UTF-8 is kept, and characters stay whole':
      'the output of its tools is text for its model',
    'a turn in a missing workspace does not complete':
      'its commands fail, and its model sees that',
  },
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

/** Every adapter has one row here. */
export const contractRows: readonly ContractRow[] = [
  ...drivenAgentKinds.map(drivenRow),
  commandRow('custom'),
  commandRow('traecli'),
  commandRow('coco'),
  commandRow('bub'),
  moduleRow,
  loopRow,
];
