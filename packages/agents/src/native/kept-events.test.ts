import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addUsage, emptyUsage, type StreamEvent } from '@whetstone/events';
import type { Sandbox } from '@whetstone/sandbox';
import { createMask, createProcessSandboxProvider } from '@whetstone/sandbox';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EndedTurn, type KeptRecord, readKeptEvents } from '../kit/kept-events.ts';
import type { NativeSummary } from '../kit/native-mapper.ts';
import { callsOfTurn } from '../kit/turn-usage.ts';
import { codexCli } from './codex-cli/codex-cli.ts';
import { copilot } from './copilot/copilot.ts';
import { geminiCli } from './gemini-cli/gemini-cli.ts';

const recorded = (path: string): Promise<string> => readFile(join(import.meta.dirname, path), 'utf8');
const rollout = 'codex-cli/__fixtures__/codex-0.169.0/agents-child.transcript.jsonl';
const thread = '01a20115-967b-77a1-80c6-0cee37d3ef1e';
const rolloutFile = (id: string) => `~/.codex/sessions/2026/11/22/rollout-2026-11-22T02-28-41-${id}.jsonl`;

let folder: string;
let sandbox: Sandbox;
let logged: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-events-'));
  const provider = await createProcessSandboxProvider({ scratch: folder });
  sandbox = await provider.start({ workdir: folder, env: {} });
  logged = [];
});
afterEach(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

const read = async (...what: Parameters<typeof readKept>): Promise<StreamEvent[] | undefined> =>
  (await readKept(...what))?.events;

async function readKept(
  cli: typeof codexCli,
  summary: NativeSummary,
  more: Partial<EndedTurn> = {},
): Promise<KeptRecord | undefined> {
  const turn = {
    sandbox,
    program: '/bin/false',
    place: {},
    options: {},
    startedAt: '2026',
    events: [],
    summary,
  };
  const context = { log: (line: string) => logged.push(line), signal: new AbortController().signal };
  return readKeptEvents(cli, context, { ...turn, ...more });
}

const tokensOf = (events: readonly StreamEvent[] = []): number =>
  events.flatMap((event) => (event.type === 'usage' ? [event.usage] : [])).reduce(addUsage, emptyUsage())
    .inputTokens;

test('events and usage of a Codex sub-agent belong to the call that started it', async () => {
  await sandbox.writeFiles({ [rolloutFile(thread)]: await recorded(rollout) });
  const events = await read(codexCli, { subagents: { [thread]: 'item_2' } });
  expect(new Set(events?.map(({ parentCallId }) => parentCallId))).toEqual(new Set(['item_2']));
  expect(events).toContainEqual(expect.objectContaining({ type: 'message', text: 'The child is done.' }));
  expect(tokensOf(events)).toBeGreaterThan(0);
  expect(events?.filter(({ type }) => type === 'session.started' || type === 'raw')).toEqual([]);
});

test('a sub-agent from an earlier turn gives only the events of this turn', async () => {
  await sandbox.writeFiles({ [rolloutFile(thread)]: await recorded(rollout) });
  const subagents = { [thread]: 'item_2' };
  expect(await read(codexCli, { subagents }, { startedAt: '2026-11-23T00:00:00.000Z' })).toEqual([]);
});

test('events of a nested sub-agent belong to the call of its parent', async () => {
  const parent = await recorded('codex-cli/__fixtures__/codex-0.169.0/agents.transcript.jsonl');
  const parentThread = '01a20115-9588-7d83-a4f6-cf0429c74e1e';
  await sandbox.writeFiles({
    [rolloutFile(parentThread)]: parent,
    [rolloutFile(thread)]: await recorded(rollout),
  });
  const events = (await read(codexCli, { subagents: { [parentThread]: 'item_9' } })) ?? [];
  const started = events.find((event) => event.type === 'subagent.called');
  expect(started).toMatchObject({ parentCallId: 'item_9' });
  const below = events.filter(({ parentCallId }) => parentCallId === started?.callId);
  expect(below).toContainEqual(expect.objectContaining({ text: 'The child is done.' }));
});

test('a missing transcript is logged, and the events are unknown', async () => {
  expect(await read(codexCli, { subagents: { [thread]: 'item_2' } })).toBeUndefined();
  expect(logged).toEqual([expect.stringContaining('codex-cli')]);
});

test.each(['*', '../../../../etc/passwd', '-delete', ''])(
  'an invalid id is not looked up: %s',
  async (id) => {
    await sandbox.writeFiles({ [rolloutFile(thread)]: await recorded(rollout) });
    expect(await read(codexCli, { subagents: { [id]: 'item_2' } })).toEqual([]);
  },
);

test('the usage of a Copilot turn comes from its session file and includes its sub-agent', async () => {
  const sessionId = 'f6bb55d5-7ea4-4bd0-9be9-9c2ddc5acd0b';
  const session = await recorded('copilot/__fixtures__/copilot-1.0.102/main.transcript.jsonl');
  await sandbox.writeFiles({ [`~/.copilot/session-state/${sessionId}/events.jsonl`]: session });
  const events = await read(copilot, { sessionId });
  expect(new Set(events?.map(({ type }) => type))).toEqual(new Set(['usage']));
  expect(events?.filter(({ parentCallId }) => parentCallId !== undefined)).toHaveLength(2);
  expect(await read(copilot, {})).toEqual([]);
});

test('a Gemini CLI sub-agent gives events without usage, which the stream already has', async () => {
  const folder = 'gemini-cli/__fixtures__/gemini-0.61.0';
  const sessionId = 'c672b966-9830-4cba-a472-d7478c121cac';
  const child = 'f10a0ecf-e620-4ed7-a625-0a4a4f0f3efa';
  const chats = '~/.gemini/tmp/work/chats';
  await sandbox.writeFiles({
    [`${chats}/session-2026-11-22T02-19-c672b966.jsonl`]: await recorded(`${folder}/agent.transcript.jsonl`),
    [`${chats}/${sessionId}/${child}.jsonl`]: await recorded(`${folder}/agent-child.transcript.jsonl`),
  });
  expect(await read(geminiCli, { sessionId })).toEqual([]);
  const callId = 'invoke_agent__call_cf8057125ec4caadefca1e7e';
  const events = await read(
    geminiCli,
    { sessionId },
    { events: [{ type: 'subagent.called', callId, name: 'generalist' }] },
  );
  expect(new Set(events?.map(({ parentCallId }) => parentCallId))).toEqual(new Set([callId]));
  expect(events).toContainEqual(expect.objectContaining({ type: 'action.called', name: 'read_file' }));
  expect(tokensOf(events)).toBe(0);
});

describe('the rollout of a Codex thread', () => {
  const main = '01a20115-8da2-7231-bfe2-e48539252d93';
  const keep = async () =>
    sandbox.writeFiles({
      [rolloutFile(main)]: await recorded('codex-cli/__fixtures__/codex-0.169.0/main.transcript.jsonl'),
    });

  test('has each model call, the version and the settings, which the stream leaves out', async () => {
    await keep();
    const usage = { inputTokens: 1, outputTokens: 1 };
    const kept = await readKept(codexCli, { sessionId: main, usage });
    expect(kept?.events).toEqual([]);
    expect(kept?.calls?.length).toBeGreaterThan(4);
    expect(new Set(kept?.calls?.map(({ model }) => model))).toEqual(new Set(['gpt-5.5']));
    expect(kept?.facts).toEqual({
      ...{ threadId: expect.any(String), turnId: expect.any(String) },
      runtimeVersion: '0.169.0',
      approvalPolicy: 'never',
      own: { approvalPolicy: 'never', sandbox: 'danger-full-access' },
    });
    const whole = kept?.calls?.map((call) => call.usage).reduce(addUsage);
    expect(callsOfTurn([], kept, whole)).toHaveLength(kept?.calls?.length ?? 0);
    expect(callsOfTurn([], kept, usage), 'of a turn with other calls').toBeUndefined();
  });

  test('has the usage of a turn whose stream only has that of the thread', async () => {
    await keep();
    const kept = await readKept(codexCli, { sessionId: main }, { startedAt: '2026-11-22T02:28:40.000Z' });
    // 104,916 of the thread, 85,350 of them of its first turn.
    expect(tokensOf(kept?.events)).toBe(104_916 - 85_350);
  });

  test('may be missing', async () => {
    expect(await readKept(codexCli, { sessionId: main })).toEqual({ events: [] });
  });
});

test('the session file of Gemini CLI has each model call', async () => {
  const sessionId = 'c672b966-9830-4cba-a472-d7478c121cac';
  await sandbox.writeFiles({
    '~/.gemini/tmp/work/chats/session-2026-11-22T02-19-c672b966.jsonl': await recorded(
      'gemini-cli/__fixtures__/gemini-0.61.0/agent.transcript.jsonl',
    ),
  });
  const kept = await readKept(geminiCli, { sessionId });
  expect(kept?.calls?.map(({ model }) => model)).toEqual(['gemini-2.5-pro', 'gemini-2.5-pro']);
});

test('kept events are masked as the stream is', async () => {
  await sandbox.writeFiles({ [rolloutFile(thread)]: await recorded(rollout) });
  const options = { mask: createMask(['The child is done.']) };
  const events = await read(codexCli, { subagents: { [thread]: 'item_2' } }, { options });
  expect(JSON.stringify(events)).not.toContain('The child is done.');
  expect(JSON.stringify(events)).toContain('[masked]');
});

test('the host reads what an agent kept, without a program of the sandbox', async () => {
  await sandbox.writeFiles({ [rolloutFile(thread)]: await recorded(rollout) });
  const started: string[] = [];
  const withoutPrograms = {
    ...{ home: sandbox.home, hostPath: (path: string) => path },
    runCommand: async (program: string) => void started.push(program),
  } as unknown as Sandbox;
  const events = await read(codexCli, { subagents: { [thread]: 'item_2' } }, { sandbox: withoutPrograms });
  expect(events?.length).toBeGreaterThan(0);
  expect(started).toEqual([]);
});

test('what lies outside of the home is not read through a link that the agent made', async () => {
  const outside = join(folder, 'of-the-user');
  await mkdir(outside);
  await sandbox.writeFiles({ [rolloutFile(thread).replace('~', outside)]: await recorded(rollout) });
  await symlink(join(outside, '.codex'), join(sandbox.home, '.codex'));
  expect(await read(codexCli, { subagents: { [thread]: 'item_2' } })).toBeUndefined();
  expect(logged).toEqual([expect.stringContaining('leads out')]);
});
