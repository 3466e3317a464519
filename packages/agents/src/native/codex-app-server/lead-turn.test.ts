import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import type { JsonObject } from '@whetstone/events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { completed, item, scriptedServer, turnWith } from './__fixtures__/scripted-server.ts';
import { leadTurn } from './lead-turn.ts';

afterEach(() => void vi.useRealTimers());
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A server whose turn goes on until the test ends it. */
const openTurn = (before: (put: (message: JsonObject) => void) => void = () => {}) =>
  scriptedServer({
    'turn/start'(_, put) {
      before(put);
      return { turn: { id: 'turn-1' } };
    },
  });

test('A turn is a handshake, a thread, a turn and a leave', async () => {
  const server = scriptedServer();
  await leadTurn(server.peer, turnWith({}).turn);
  expect(server.methods()).toEqual([
    ...['initialize', 'initialized', 'thread/start', 'turn/start', 'thread/unsubscribe'],
  ]);
  expect(server.paramsOf('turn/start')).toMatchObject({
    input: [{ type: 'text', text: 'Do it.' }],
    sandboxPolicy: { type: 'workspaceWrite', writableRoots: [], networkAccess: false, excludeSlashTmp: true },
  });
});

test('A turn may begin and end before its start is answered', async () => {
  const server = scriptedServer({
    'turn/start'(_, put) {
      put({ method: 'turn/started', params: { threadId: 'thread-1', turn: { id: 'turn-1' } } });
      put(completed('turn-1'));
      return { turn: { id: 'turn-1' } };
    },
  });
  await leadTurn(server.peer, turnWith({}).turn);
  expect(server.methods()).toContain('thread/unsubscribe');
});

test('The end of another turn or another thread does not end this one', async () => {
  const server = openTurn((put) => {
    put(completed('turn-0'));
    put(completed('turn-1', 'thread-of-a-sub-agent'));
  });
  const leading = leadTurn(server.peer, turnWith({}).turn);
  await settle();
  expect(server.methods()).not.toContain('thread/unsubscribe');
  server.put(completed('turn-1'));
  await leading;
});

test.each([
  [
    'a later turn resumes',
    { resume: 'thread-9' },
    'thread/resume',
    { threadId: 'thread-9', excludeTurns: true },
  ],
  ['a thread of the user', { options: { resume: 'thread-8' } }, 'thread/resume', { threadId: 'thread-8' }],
  ['a fork', { options: { fork: 'thread-7' } }, 'thread/fork', { threadId: 'thread-7' }],
  [
    'a fork that goes on',
    { options: { fork: 'thread-7' }, resume: 'fork-1' },
    'thread/resume',
    { threadId: 'fork-1' },
  ],
  [
    'instructions',
    {
      options: {
        base_instructions: 'Be.',
        developer_instructions: 'Do.',
        ephemeral: true,
        service_tier: 'fast',
      },
    },
    'thread/start',
    { baseInstructions: 'Be.', developerInstructions: 'Do.', ephemeral: true, serviceTier: 'fast' },
  ],
  [
    'effort',
    { options: { effort: 'high', summary: 'concise' } },
    'turn/start',
    { effort: 'high', summary: 'concise' },
  ],
  [
    'a review of a commit',
    { options: { review: { commit: 'abc' } } },
    'review/start',
    { target: { type: 'commit', sha: 'abc' }, delivery: 'inline' },
  ],
  [
    'a review as prompted',
    { options: { review: 'custom' }, text: 'Look at a.ts.' },
    'review/start',
    { target: { type: 'custom', instructions: 'Look at a.ts.' } },
  ],
])('%s is asked for', async (_, given, method, params) => {
  const server = scriptedServer({
    'review/start'(_params, put) {
      put(completed('turn-1'));
      return { turn: { id: 'turn-1' } };
    },
  });
  await leadTurn(server.peer, turnWith(given).turn);
  expect(server.paramsOf(method)).toMatchObject(params);
});

test('Each part of a prompt is given as Codex takes it, and in words where it takes none', async () => {
  const server = scriptedServer();
  const { turn } = turnWith({});
  const items = [
    { type: 'text', text: 'Look.' },
    { type: 'image', path: 'shots/a.png' },
    { type: 'image', url: 'https://example.org/b.png' },
    { type: 'skill', name: 'brew-tea' },
    { type: 'mention', name: 'calendar', path: 'app://calendar' },
    { type: 'mention', name: 'somebody' },
    { type: 'file', path: 'a.ts' },
    { type: 'diff', diff: '+a' },
  ] as const;
  await leadTurn(server.peer, { ...turn, input: { text: 'Look.', items } });
  const words = (text: string) => ({ type: 'text', text, text_elements: [] });
  expect(server.paramsOf('turn/start').input).toEqual([
    words('Look.'),
    { type: 'localImage', path: join(process.cwd(), 'shots/a.png') },
    { type: 'image', url: 'https://example.org/b.png' },
    { type: 'skill', name: 'brew-tea', path: '/home/.codex/skills/brew-tea/SKILL.md' },
    { type: 'mention', name: 'calendar', path: 'app://calendar' },
    words('@somebody'),
    words('File: a.ts'),
    words('```diff\n+a\n```'),
  ]);
});

test('An archived thread is taken back before it is resumed', async () => {
  const server = scriptedServer();
  await leadTurn(server.peer, turnWith({ resume: 'thread-1', options: { cleanup: 'archive' } }).turn);
  const threads = server.methods().filter((method) => method.startsWith('thread/'));
  expect(threads).toEqual(['thread/unarchive', 'thread/resume', 'thread/archive']);
});

test('A server that does not answer, refuses or ends does not hold the turn', async () => {
  vi.useFakeTimers();
  const silent = scriptedServer({ initialize: () => undefined });
  const first = turnWith({ options: { startup_timeout_seconds: 2 } });
  const starting = leadTurn(silent.peer, first.turn);
  await vi.advanceTimersByTimeAsync(2_001);
  await starting;
  expect(first.logged).toEqual([expect.stringContaining('initialize was not answered within 2000 ms')]);

  const refusing = scriptedServer({
    'thread/start': () => ({ error: { code: -32600, message: 'no such model' } }),
  });
  const second = turnWith({});
  await leadTurn(refusing.peer, second.turn);
  expect(second.logged).toEqual(['codex app-server: no such model']);

  const ending = openTurn();
  const leading = leadTurn(ending.peer, turnWith({}).turn);
  await vi.advanceTimersByTimeAsync(1);
  ending.end();
  await leading;
});

test('An answer that comes after its time limit starts nothing more', async () => {
  vi.useFakeTimers();
  const server = scriptedServer({ 'turn/start': () => undefined });
  const leading = leadTurn(server.peer, turnWith({ options: { request_timeout_seconds: 1 } }).turn);
  await vi.advanceTimersByTimeAsync(1_001);
  await leading;
  const sent = server.heard.length;
  server.put({ id: 3, result: { turn: { id: 'turn-1' } } });
  await vi.advanceTimersByTimeAsync(10);
  expect(server.heard).toHaveLength(sent);
});

test('An abort interrupts the turn, and nothing listens to it afterwards', async () => {
  const abort = new AbortController();
  const server = openTurn();
  const leading = leadTurn(server.peer, turnWith({ signal: abort.signal }).turn);
  await settle();
  abort.abort();
  await leading;
  expect(server.paramsOf('turn/interrupt')).toEqual({ threadId: 'thread-1', turnId: 'turn-1' });
  expect(server.methods()).not.toContain('thread/unsubscribe');

  const quiet = new AbortController();
  await leadTurn(scriptedServer().peer, turnWith({ signal: quiet.signal }).turn);
  expect(getEventListeners(quiet.signal, 'abort')).toEqual([]);
});

test('A server that stays gets each turn its own policy, and is greeted once', async () => {
  const question = {
    id: 0,
    method: 'item/tool/call',
    params: { callId: 'c', tool: 'lookup', arguments: {} },
  };
  const server = scriptedServer({
    'turn/start'({ threadId }, put) {
      put(question);
      put(completed('turn-1', String(threadId)));
      return { turn: { id: 'turn-1' } };
    },
  });
  const options = { reuse_server: true };
  const first = turnWith({ options });
  const second = turnWith({ options, resume: 'thread-1', rules: [{ allow: { tool: 'lookup' } }] });
  await leadTurn(server.peer, first.turn);
  await leadTurn(server.peer, second.turn);
  const decided = [first, second].map(({ events }) =>
    events.flatMap((event) => (event.type === 'approval.decided' ? [event.decision] : [])),
  );
  expect(decided).toEqual([['denied'], ['approved']]);
  expect(server.methods().filter((method) => method === 'initialize')).toHaveLength(1);
  expect(server.methods()).not.toContain('thread/unsubscribe');
});

test.each<[string, Parameters<typeof scriptedServer>[0]]>([
  ['a handshake', { initialize: () => undefined }],
  ['a thread', { 'thread/start': () => undefined }],
  ['a turn', { 'turn/start': () => undefined }],
  ['a request that it refuses', { 'thread/start': () => ({ error: { code: -32600, message: 'no' } }) }],
])(
  'A server that was to stay is given up after %s that it left open, for it may still begin',
  async (_, answers) => {
    vi.useFakeTimers();
    const server = scriptedServer(answers);
    const limits = { startup_timeout_seconds: 1, request_timeout_seconds: 1 };
    const leading = leadTurn(server.peer, turnWith({ options: { reuse_server: true, ...limits } }).turn);
    await vi.advanceTimersByTimeAsync(1_001);
    await leading;
    expect(server.isDiscarded()).toBe(true);
  },
);

test('A server that stays is asked for what each turn wants, not for what the first one did', async () => {
  const server = scriptedServer();
  const options = { reuse_server: true };
  await leadTurn(server.peer, turnWith({ options }).turn);
  const { turn } = turnWith({
    ...{ options: { ...options, effort: 'high' }, resume: 'thread-1' },
    permissions: { shell: 'allow', filesystem: 'read-only' },
  });
  await leadTurn(server.peer, { ...turn, model: 'gpt-of-the-turn' });
  expect(server.isDiscarded()).toBe(false);
  expect(server.paramsOf('thread/resume')).toMatchObject({
    ...{ model: 'gpt-of-the-turn', sandbox: 'read-only', approvalPolicy: { granular: { rules: false } } },
  });
  const turns = server.heard.filter(({ method }) => method === 'turn/start');
  expect(turns.map(({ params }) => params)).toMatchObject([
    { sandboxPolicy: { type: 'workspaceWrite' } },
    { effort: 'high', sandboxPolicy: { type: 'readOnly' } },
  ]);
});

test('Text that steers is sent once, after the call that it names, to the turn that runs', async () => {
  const call = { type: 'commandExecution', id: 'call-1', command: 'ls', status: 'completed' };
  const server = openTurn((put) => {
    put(item('completed', { ...call, id: 'other' }, 'thread-of-a-sub-agent'));
    for (const id of ['call-1', 'call-2', 'call-3']) put(item('completed', { ...call, id }));
  });
  const leading = leadTurn(
    server.peer,
    turnWith({ options: { steer: [{ after_calls: 2, text: 'Be brief.' }] } }).turn,
  );
  await settle();
  server.put(completed('turn-1'));
  await leading;
  const steers = server.heard.filter(({ method }) => method === 'turn/steer');
  expect(steers.map(({ params }) => params)).toMatchObject([
    { threadId: 'thread-1', expectedTurnId: 'turn-1', input: [{ type: 'text', text: 'Be brief.' }] },
  ]);
});

describe('questions', () => {
  const patch = {
    type: 'fileChange',
    id: 'patch-1',
    changes: [{ path: `${process.cwd()}/a.txt`, kind: { type: 'add' } }],
  };
  const outside = { ...patch, id: 'patch-2', changes: [{ path: '/etc/a.txt', kind: { type: 'add' } }] };
  const form = { mode: 'form', serverName: 's', threadId: 'thread-1', turnId: 'turn-1', message: 'Well?' };
  const mcp = {
    ...form,
    _meta: { codex_approval_kind: 'mcp_tool_call', tool_name: 'find', tool_params: {} },
  };

  /** Asks with ids from 0, as Codex does, and resolves with the answers in that order. */
  async function ask(questions: readonly [string, JsonObject][], given: Parameters<typeof turnWith>[0] = {}) {
    const server = openTurn((put) => {
      put(item('started', patch));
      put(item('started', outside));
      put(item('started', { type: 'mcpToolCall', id: 'mcp-1', server: 's', tool: 'find', arguments: {} }));
      for (const [id, [method, params]] of questions.entries()) put({ id, method, params });
    });
    const { turn, events } = turnWith(given);
    const leading = leadTurn(server.peer, turn);
    const isAnswer = (sent: JsonObject) => !('method' in sent);
    await vi.waitFor(() => expect(server.heard.filter(isAnswer)).toHaveLength(questions.length), {
      timeout: 30_000,
    });
    server.put(completed('turn-1'));
    await leading;
    const answers = questions.map((_, id) =>
      server.heard.find((sent) => sent.id === id && !('method' in sent)),
    );
    return { answers: answers.map((sent) => sent?.result ?? sent?.error), events };
  }

  const all: [string, JsonObject][] = [
    ['item/commandExecution/requestApproval', { itemId: 'c-0', command: "/bin/bash -lc 'rm a'" }],
    ['item/fileChange/requestApproval', { itemId: 'patch-2', reason: null, grantRoot: null }],
    [
      'item/permissions/requestApproval',
      { itemId: 'c-1', permissions: { network: { enabled: true }, fileSystem: null } },
    ],
    [
      'item/tool/requestUserInput',
      { itemId: 'c-2', questions: [{ id: 'q', question: 'Which?', options: null }] },
    ],
    ['mcpServer/elicitation/request', form],
    ['mcpServer/elicitation/request', mcp],
    ['item/tool/call', { callId: 'c-3', tool: 'lookup', arguments: {} }],
    ['execCommandApproval', { conversationId: 'x', callId: 'c-4', command: ['rm', 'a'] }],
    ['applyPatchApproval', { conversationId: 'x', callId: 'c-5', fileChanges: { '/etc/a': {} } }],
    ['account/chatgptAuthTokens/refresh', {}],
    ['attestation/generate', {}],
    ['currentTime/read', {}],
    ['plugin/install', {}],
    ['config/value/write', { keyPath: 'approval_policy', value: 'never' }],
  ];

  test('each gets the answer that allows nothing, and is an event with its rule', async () => {
    const { answers, events } = await ask(all);
    const declined = { action: 'decline', content: null };
    const denied = { decision: { denied: { rejection: expect.stringContaining('denied by') } } };
    expect(answers).toMatchObject([
      { decision: 'decline' },
      { decision: 'decline' },
      { permissions: {}, scope: 'turn' },
      { answers: { q: { answers: [] } } },
      declined,
      declined,
      { success: false, contentItems: [{ type: 'inputText' }] },
      denied,
      denied,
      { code: -32603 },
      { code: -32603 },
      { currentTimeAt: expect.any(Number) },
      { code: -32601 },
      { code: -32601 },
    ]);
    const decided = events.filter((event) => event.type === 'approval.decided');
    expect(decided).toHaveLength(9);
    for (const event of decided) expect(event).toMatchObject({ decision: 'denied', by: 'policy', rule: /./ });
    // The call of an MCP tool is the one that is open.
    expect(decided.map(({ callId }) => callId)).toContain('mcp-1');
  });

  test('an allowed call is accepted only this one time', async () => {
    const open = { filesystem: 'full', network: 'open' } as const;
    const rules = [
      { allow: { command: 'rm *' } },
      { allow: { tool: 'mcp__s__find' } },
      { allow: { path: '**' } },
    ];
    const { answers } = await ask(
      [
        ...all.slice(0, 1),
        all[5] ?? ['', {}],
        ['item/fileChange/requestApproval', { itemId: 'patch-1' }],
        ...all.slice(7, 8),
      ],
      { permissions: open, rules },
    );
    expect(answers).toMatchObject([
      { decision: 'accept' },
      { action: 'accept' },
      { decision: 'accept' },
      { decision: 'approved' },
    ]);
  });

  test('a patch in the workspace is allowed by its permission; one that names no path is not', async () => {
    const { answers } = await ask([
      ['item/fileChange/requestApproval', { itemId: 'patch-1' }],
      ['item/fileChange/requestApproval', { itemId: 'unknown' }],
    ]);
    expect(answers).toEqual([{ decision: 'accept' }, { decision: 'decline' }]);
  });
});
