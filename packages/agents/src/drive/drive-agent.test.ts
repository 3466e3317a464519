import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { deriveAgentMetadata, type StreamEvent } from '@whetstone/events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AgentContext, defineAgent, defineSandboxAgent, type Turn } from '../agent.ts';
import { createAgent } from '../create-agent.ts';
import { driveAgent } from './drive-agent.ts';
import { openSession } from './open-session.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'drive-test-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const completed = (...events: StreamEvent[]): Turn => ({ events, status: 'completed' });
const said = (text: string): StreamEvent => ({ type: 'message', role: 'assistant', text });

/** Writes into the workspace, and reports where it was. */
const worker = defineSandboxAgent({
  name: 'worker',
  async send(input, { sandbox, emit, files }) {
    emit({ type: 'action.called', callId: '1', name: 'shell', input: {} });
    await sandbox.runCommand('sh', ['-c', 'echo "$1" > done.txt; echo x > ~/left.txt', 'sh', input.text]);
    emit({ type: 'action.result', callId: '1', status: 'completed' });
    return completed(said([sandbox.workdir, sandbox.home, files.promptFile].join('\n')));
  },
});

/** Hangs until its turn is over. */
const stuck = defineSandboxAgent({
  name: 'stuck',
  async send(_, { sandbox, emit }) {
    emit({ type: 'thinking', text: 'for ever' });
    await sandbox.runCommand('sleep', ['600']);
    return completed();
  },
});

async function iterate(events: AsyncIterable<StreamEvent>): Promise<StreamEvent['type'][]> {
  const types: StreamEvent['type'][] = [];
  for await (const { type } of events) types.push(type);
  return types;
}

test('an agent works in the folder, and nothing of its own is left', async () => {
  const turn = await driveAgent(worker, { folder, prompt: 'hello' });
  expect(turn).toMatchObject({ status: 'completed', exit: { ended: 'exit' } });
  expect(await readFile(join(folder, 'done.txt'), 'utf8')).toBe('hello\n');
  expect(turn.facts).toEqual({ network: 'open', sandbox: 'process' });
  const message = turn.events.at(-1);
  const [workdir, home = '', promptFile = ''] = message?.type === 'message' ? message.text.split('\n') : [];
  expect(workdir).toBe(folder);
  expect([home, dirname(promptFile)].filter((path) => path === '' || existsSync(path))).toEqual([]);
});

test('events come as they happen, to the loop and to the callback, and are all in the turn', async () => {
  const called: StreamEvent[] = [];
  const driving = driveAgent(worker, { folder, prompt: 'hello', onEvent: (event) => called.push(event) });
  const iterated: StreamEvent[] = [];
  for await (const event of driving) iterated.push(event);
  const { events } = await driving;
  expect(iterated.map(({ type }) => type)).toEqual(['action.called', 'action.result', 'message']);
  expect(called).toEqual(iterated);
  expect(events).toEqual(iterated);
  expect(events).toMatchObject(events.map(() => ({ turn: 0, source: 'agent', at: expect.any(String) })));
  // Who iterates late has missed nothing.
  expect(await iterate(driving)).toEqual(['action.called', 'action.result', 'message']);
});

test('the host adds which files are new, where the agent calls them modified', async () => {
  const writer = defineSandboxAgent({
    name: 'writer',
    capabilities: { conversation: true },
    async send(_, { sandbox, session, emit }) {
      session.id = 'one';
      const paths = [
        'old.txt',
        'src/new.txt',
        'src/new.txt',
        'removed.txt',
        'node_modules/x.js',
        '../outside',
      ];
      await sandbox.runCommand('sh', [
        '-c',
        'mkdir -p src; echo x | tee by-shell.txt src/new.txt > /dev/null',
      ]);
      for (const path of [...paths, ...(session.isNew ? [] : ['by-shell.txt'])])
        emit({ type: 'file.changed', path, change: 'modified' });
      return completed();
    },
  });
  await writeFile(join(folder, 'old.txt'), '');
  await using session = await openSession(writer, { folder });
  const first = await session.send('one');
  expect(first.events.slice(0, -1)).toMatchObject(Array(6).fill({ change: 'modified', source: 'agent' }));
  expect(first.events.at(-1)).toMatchObject({
    path: 'src/new.txt',
    change: 'added',
    source: 'host',
    turn: 0,
  });
  const changes = deriveAgentMetadata(first.events).fileChanges;
  expect(changes.filter(({ path }) => path === 'src/new.txt')).toEqual([
    { path: 'src/new.txt', change: 'added' },
  ]);
  // No file of the second turn is new.
  expect((await session.send('two')).events.map((event) => event.source)).toEqual(Array(7).fill('agent'));
});

test('an agent that was left in the loop is stopped', async () => {
  const driving = driveAgent(stuck, { folder, prompt: '' });
  for await (const { type } of driving) if (type === 'thinking') break;
  expect(await driving).toMatchObject({ status: 'failed', exit: { ended: 'abort' } });
});

test.each([
  ['its time limit', () => ({ timeoutMs: 100 }), 'timeout'],
  ['the signal', () => ({ signal: AbortSignal.timeout(100) }), 'abort'],
])('%s ends a turn', async (_, options, ended) => {
  const turn = await driveAgent(stuck, { folder, prompt: '', ...options() });
  expect(turn).toMatchObject({ status: 'failed', exit: { ended } });
});

test('an error of the adapter is thrown where the turn is awaited and where it is iterated', async () => {
  const broken = defineAgent({ name: 'broken', send: () => Promise.reject(new Error('my own bug')) });
  const message = 'Adapter broken failed: my own bug';
  await expect(driveAgent(broken, { folder, prompt: '' })).rejects.toThrow(message);
  await expect(iterate(driveAgent(broken, { folder, prompt: '' }))).rejects.toThrow(message);
});

test('the options reach the adapter', async () => {
  let seen: AgentContext | undefined;
  const curious = defineAgent({
    name: 'curious',
    async send(input, context) {
      seen = context;
      context.log('a diagnostic');
      return { ...completed(), data: input.outputSchema };
    },
  });
  const lane = { baseUrl: 'http://127.0.0.1:9', key: 'key', env: { A: 'b' } };
  const outputSchema = { type: 'object' };
  const logged: string[] = [];
  const turn = await driveAgent(curious, {
    ...{ folder, prompt: 'hello', model: 'model-1', flags: { fast: true }, lane, outputSchema },
    onLog: (message) => logged.push(message),
  });
  expect(seen).toMatchObject({ model: 'model-1', flags: { fast: true }, lane, timeoutMs: 3_600_000 });
  expect(turn.data).toBe(outputSchema);
  expect(logged).toEqual(['a diagnostic']);
});

/** Remembers its prompts in its home, under the id of the session. */
const talker = defineSandboxAgent({
  name: 'talker',
  capabilities: { conversation: true },
  async send(input, { sandbox, session, files }) {
    session.id ??= 'session-1';
    const { stdout } = await sandbox.runCommand('sh', [
      ...['-c', 'cat "$1" >> ~/"$2"; cat ~/"$2"', 'sh', files.promptFile, session.id],
    ]);
    const call: StreamEvent = { type: 'action.called', callId: '1', name: 'shell', input: {} };
    return completed(call, said(`${input.text}: ${stdout} (${session.isNew ? 'new' : 'resumed'})`));
  },
});

test('a session resumes turn after turn, in one home, and no two of its calls have one id', async () => {
  await using session = await openSession(talker, { folder });
  expect(session).toMatchObject({ id: undefined, turns: 0 });
  const first = await session.send('One.');
  expect(session).toMatchObject({ id: 'session-1', turns: 1 });
  const second = await session.send({ text: 'Two.' });
  expect([first, second].map(({ events }) => events)).toMatchObject([
    [
      { turn: 0, callId: '1' },
      { turn: 0, text: 'One.: One. (new)' },
    ],
    [
      { turn: 1, callId: '1#2' },
      { turn: 1, text: 'Two.: One.Two. (resumed)' },
    ],
  ]);
});

test('another session resumes it by its id, in the sandbox that has it', async () => {
  await using session = await openSession(talker, { folder });
  await session.send('One.');
  const { sandbox, files, id = '' } = session;
  await using resumed = await openSession(talker, { sandbox, files, resume: id });
  expect(await resumed.send('Two.')).toMatchObject({
    events: [{}, { text: 'Two.: One.Two. (resumed)' }],
  });
});

test('an agent that reports no session id takes no follow-up', async () => {
  await using session = await openSession(worker, { folder });
  await session.send('One.');
  await expect(session.send('Two.')).rejects.toMatchObject({ code: 'agent-session-missing' });
  expect(session.turns).toBe(1);
});

test('a prompt that is sent during a turn is refused, and the turn completes', async () => {
  await using session = await openSession(talker, { folder });
  const first = session.send('One.');
  await expect(session.send('Two.')).rejects.toMatchObject({ code: 'session-state-wrong' });
  expect(await first).toMatchObject({ status: 'completed' });
});

test('the prompt file is a file again where an agent put a link', async () => {
  const linking = defineSandboxAgent({
    name: 'linking',
    async send(input, { sandbox, session, files }) {
      session.id ??= 'session-1';
      await sandbox.runCommand('ln', ['-sf', join(folder, 'victim'), files.promptFile]);
      return completed(said(input.text));
    },
  });
  await using session = await openSession(linking, { folder });
  await session.send('One.');
  await session.send('Two.');
  expect(existsSync(join(folder, 'victim'))).toBe(false);
});

test('a released agent is not driven below instructions that are not its project’s', async () => {
  const project = join(folder, 'home/project');
  await mkdir(join(project, 'packages/one'), { recursive: true });
  await mkdir(join(project, '.git'));
  await mkdir(join(folder, 'home/.claude'));
  await writeFile(join(project, 'CLAUDE.md'), 'Of the project.');
  const place = join(folder, 'home/.claude/CLAUDE.md');
  await writeFile(place, 'Of the user.');
  const claude = await createAgent({ kind: 'claude-code', command: 'true' });
  const options = { folder: join(project, 'packages/one'), prompt: 'hello' };
  const refused = { code: 'instructions-above-workspace', where: place };
  await expect(driveAgent(claude, options)).rejects.toMatchObject(refused);
  await expect(openSession(claude, options)).rejects.toMatchObject(refused);
  expect(await driveAgent(claude, { ...options, above: 'allowed' })).toMatchObject({ status: 'completed' });
  await rm(place);
  expect(await driveAgent(claude, options)).toMatchObject({ status: 'completed' });
});
