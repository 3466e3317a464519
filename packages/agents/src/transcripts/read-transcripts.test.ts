import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordedKinds, recordingsOf } from '../native/__fixtures__/recordings.ts';
import { readTranscripts, type Transcript } from './read-transcripts.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'transcripts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function read(...given: Parameters<typeof readTranscripts>): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  for await (const transcript of readTranscripts(...given)) transcripts.push(transcript);
  return transcripts;
}

const codex = recordingsOf('codex-cli').bytesOf('main.transcript.jsonl');

/** Puts files below the folder. */
function place(files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

test.each(recordedKinds)('transcripts of %s are recognized by what is in them', async (kind) => {
  const { bytesOf, transcriptNames } = recordingsOf(kind);
  const extension = kind === 'opencode-cli' ? 'json' : 'jsonl';
  const names = transcriptNames.map((name) => `${name}.transcript.${extension}`);
  place(Object.fromEntries(names.map((name) => [name, bytesOf(name)])));
  const transcripts = await read(folder);
  expect(transcripts.map(({ file }) => basename(file)).toSorted()).toEqual(names.toSorted());
  for (const transcript of transcripts) {
    expect(transcript).toMatchObject({ status: 'read', kind, form: 'transcript' });
  }
});

test('a session has its turns, tool calls, tokens, end and events', async () => {
  place({ '2026/11/22/rollout-1.jsonl': codex });
  const [session] = await read(folder);
  expect(session).toMatchObject({
    status: 'read',
    file: join(folder, '2026/11/22/rollout-1.jsonl'),
    kind: 'codex-cli',
    sessionId: '01a20115-8da2-7231-bfe2-e48539252d93',
    turns: 2,
    toolCalls: 12,
    usage: { inputTokens: 104_916, outputTokens: 109 },
    ending: 'completed',
    metadata: { runtime: 'codex-cli', workingDir: '/workspace' },
  });
  expect(session?.status === 'read' && session.events[0]).toMatchObject({ type: 'session.started' });
});

test('a session that failed says why', async () => {
  place({ 'a.jsonl': recordingsOf('codex-cli').bytesOf('unauthorized.transcript.jsonl') });
  const [session] = await read(folder);
  expect(session).toMatchObject({ ending: 'failed', failure: expect.stringContaining('401'), turns: 1 });
  expect(session).not.toHaveProperty('usage');
});

test('the usage of a single turn is read from what the agent printed', async () => {
  place({
    'claude.jsonl': recordingsOf('claude-code').bytesOf('task.stream.jsonl'),
    'codex.jsonl': recordingsOf('codex-cli').bytesOf('main.stream.jsonl'),
  });
  const [claude, codex] = await read(folder);
  expect(claude).toMatchObject({ form: 'stream', turns: 1, usage: { inputTokens: expect.any(Number) } });
  expect(codex).toMatchObject({ kind: 'codex-cli', form: 'stream', turns: 1 });
  expect(codex, 'Codex prints the usage of the thread').not.toHaveProperty('usage');
});

test('foreign, broken and empty files are reported, in the order of their paths', async () => {
  place({
    'a/settings.json': '{"theme":"dark"}',
    'b.jsonl': codex,
    'c.jsonl': '{"type":"error","message":"a log of something else"}\n',
    'd.jsonl': 'not JSON\n',
    'e.jsonl': '',
    'f/notes.txt': 'passed over',
    'g.jsonl': Buffer.from([0xff, 0xfe, 0x00]),
  });
  const transcripts = await read(folder);
  expect(transcripts.map(({ file, status }) => [basename(file), status])).toEqual([
    ['settings.json', 'skipped'],
    ['b.jsonl', 'read'],
    ['c.jsonl', 'skipped'],
    ['d.jsonl', 'skipped'],
    ['e.jsonl', 'skipped'],
    ['g.jsonl', 'skipped'],
  ]);
  expect(transcripts[0]).toMatchObject({
    reason: 'This is not the output of an agent that Whetstone can read.',
  });
});

test('links are not followed, and a file that cannot be opened is reported', async () => {
  place({ 'sessions/kept.jsonl': codex, 'elsewhere/other.jsonl': codex });
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'sessions/link'));
  symlinkSync(join(folder, 'elsewhere/other.jsonl'), join(folder, 'sessions/link.jsonl'));
  expect(await read(join(folder, 'sessions'))).toMatchObject([{ status: 'read' }]);
  const listed = await read([join(folder, 'nowhere.jsonl'), join(folder, 'sessions/kept.jsonl')]);
  expect(listed).toMatchObject([
    { status: 'skipped', reason: expect.stringContaining('ENOENT') },
    { status: 'read' },
  ]);
});

test('a kind that is given is believed, and has to be known', async () => {
  place({ 'a.jsonl': codex, 'b.jsonl': '{"something":"else"}\n' });
  expect(await read(folder, { kind: 'codex-cli' })).toMatchObject([
    { status: 'read', kind: 'codex-cli' },
    { status: 'read', kind: 'codex-cli', events: [{ type: 'raw' }] },
  ]);
  await expect(read(folder, { kind: 'codex-cly' })).rejects.toMatchObject({
    code: 'agent-kind-unknown',
    hint: expect.stringContaining('codex-cli'),
  });
});

test('a folder that is not there is an error', async () => {
  await expect(read(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'file-not-found' });
});

test('a document and a first line that are longer than the probe are recognized', async () => {
  const document = JSON.parse(recordingsOf('opencode-cli').bytesOf('main.transcript.json').toString());
  const long = { ...document, info: { ...document.info, title: 'x'.repeat(400_000) } };
  const [first = '', ...rest] = codex.toString().split('\n');
  const meta = JSON.parse(first);
  meta.payload.base_instructions = { text: 'x'.repeat(400_000) };
  place({
    'a.json': JSON.stringify(long, null, 1),
    'b.jsonl': [JSON.stringify(meta), ...rest].join('\n'),
  });
  expect(await read(folder)).toMatchObject([
    { kind: 'opencode-cli', form: 'transcript', turns: 2 },
    { kind: 'codex-cli', form: 'transcript', turns: 2 },
  ]);
});
