import { present } from '@whetstone/events/present';
import type { AgentFacts, JsonObject, StreamEvent } from '@whetstone/events';
import type { Peer } from '../../../kit/dialogue.ts';
import { createPolicy } from '../../../policy/decide.ts';
import { type Permissions, safePermissions } from '../../../policy/permissions.ts';
import type { PolicyRule } from '../../../policy/policy.ts';
import type { DialogueTurn } from '../../native-agent.ts';

type Put = (message: JsonObject) => void;
type Answer = (params: JsonObject, put: Put) => JsonObject | undefined;

/** An app-server in this process. `answers` replaces how it answers a method; `undefined`: it does not answer. */
export function scriptedServer(answers: Readonly<Record<string, Answer>> = {}) {
  const heard: JsonObject[] = [];
  const inbox: (JsonObject | undefined)[] = [];
  let wake = (): void => {};
  let isDiscarded = false;
  const push = (message: JsonObject | undefined): void => {
    inbox.push(message);
    wake();
  };
  const usual: Record<string, Answer> = {
    initialize: () => ({ userAgent: 'whetstone/0.169.0' }),
    'thread/start': () => thread('thread-1'),
    'thread/resume': ({ threadId }) => thread(String(threadId)),
    'thread/fork': () => thread('fork-1'),
    'turn/start': (params, put) => {
      put(completed('turn-1', String(params.threadId)));
      return { turn: { id: 'turn-1', status: 'inProgress' } };
    },
    'turn/interrupt': ({ threadId, turnId }, put) => {
      put(completed(String(turnId), String(threadId), 'interrupted'));
      return {};
    },
    ...answers,
  };
  const peer: Peer = {
    send(message) {
      heard.push(message as JsonObject);
      const { id, method, params } = message as { id?: number; method?: string; params?: JsonObject };
      if (method === undefined || id === undefined) return;
      const answer: Answer = usual[method] ?? (() => ({}));
      const result = answer(params ?? {}, push);
      if (result) push(result.error === undefined ? { id, result } : { id, error: result.error });
    },
    async next() {
      while (inbox.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return inbox.shift();
    },
    discard() {
      isDiscarded = true;
    },
  };
  return {
    ...{ peer, heard, put: push },
    isDiscarded: () => isDiscarded,
    end: () => push(undefined),
    methods: () => heard.flatMap(({ method }) => (typeof method === 'string' ? [method] : [])),
    paramsOf: (wanted: string) => heard.find(({ method }) => method === wanted)?.params as JsonObject,
  };
}

const thread = (id: string): JsonObject => ({ thread: { id, cliVersion: '0.169.0' }, model: 'gpt-5.5', cwd: '/' });

export const completed = (turnId: string, threadId = 'thread-1', status = 'completed'): JsonObject => ({
  method: 'turn/completed',
  params: { threadId, turn: { id: turnId, status, error: null, items: [] } },
});

export const item = (method: 'started' | 'completed', fields: JsonObject, threadId = 'thread-1'): JsonObject => ({
  method: `item/${method}`,
  params: { threadId, turnId: 'turn-1', item: fields },
});

/** A turn with the real policy. */
export function turnWith(given: {
  options?: JsonObject;
  permissions?: Partial<Permissions>;
  rules?: PolicyRule[];
  resume?: string;
  signal?: AbortSignal;
  text?: string;
}) {
  const permissions = { ...safePermissions, ...given.permissions };
  const events: StreamEvent[] = [];
  const logged: string[] = [];
  const reported: AgentFacts = {};
  const workdir = process.cwd();
  const turn: DialogueTurn = {
    ...{ access: 'key', model: 'gpt-5.5', workingDirectory: workdir, permissions },
    ...present({ resume: given.resume }),
    input: { text: given.text ?? 'Do it.' },
    connection: {
      ...{ access: { kind: 'key', baseUrl: '', key: '' }, home: '/home', workingDirectory: workdir, permissions },
    },
    decide: createPolicy({ permissions, rules: given.rules ?? [], workdir, emit: (event) => events.push(event) }),
    signal: given.signal ?? new AbortController().signal,
    options: given.options ?? {},
    mcpServers: [],
    env: {},
    report: (facts) => void Object.assign(reported, facts),
    log: (message) => void logged.push(message),
  };
  return { turn, events, logged, reported };
}
