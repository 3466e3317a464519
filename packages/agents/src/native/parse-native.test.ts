import { deriveAgentMetadata, type StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { recordingsOf } from './__fixtures__/recordings.ts';
import { type NativeAgentKind, readableKinds } from './native-agents.ts';
import { metadataFacts, parseNative } from './parse-native.ts';

async function parse(kind: string | undefined, bytes: Buffer, chunkBytes = bytes.length) {
  const events: StreamEvent[] = [];
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
  const output = await parseNative(
    kind,
    (async function* () {
      yield* chunks;
    })(),
    { emit: (event) => events.push(event) },
  );
  return { output, events, metadata: deriveAgentMetadata(events, metadataFacts(output)) };
}

/** A recorded turn of each agent that prints one. */
const printed = {
  'codex-cli': 'main',
  'claude-code': 'task',
  'gemini-cli': 'main',
  'qwen-code': 'task',
  'opencode-cli': 'main',
  pi: 'main',
  copilot: 'main',
  'codex-app-server': 'main',
  'opencode-sdk': 'main',
  acp: 'gemini-main',
} as const;
type Printing = keyof typeof printed;
const printing = Object.keys(printed) as Printing[];
const streamOf = (kind: Printing) => recordingsOf(kind).bytesOf(`${printed[kind]}.stream.jsonl`);

test.each(printing)(
  'the output of %s that is read as that of another agent names the right kind',
  async (kind) => {
    const bytes = streamOf(kind);
    expect((await parse(undefined, bytes)).output.kind).toBe(kind);
    for (const wrong of readableKinds.filter((other) => other !== kind)) {
      await expect(parse(wrong, bytes), wrong).rejects.toMatchObject({
        code: 'agent-kind-wrong',
        message: expect.stringContaining(`It looks like that of ${kind}.`),
      });
    }
    expect((await parse(kind, bytes)).output.kind).toBe(kind);
  },
);

test('output that no kind recognizes is kept as raw events of the given kind', async () => {
  const { events } = await parse('codex-cli', Buffer.from('{"type":"of the future"}\nnot json\n'));
  expect(events.map(({ type }) => type)).toEqual(['raw', 'raw']);
});

test.each(printing)('a byte order mark before the output of %s changes nothing', async (kind) => {
  const bytes = streamOf(kind);
  const marked = Buffer.concat([Buffer.from('\ufeff'), bytes]);
  expect(await parse(kind, marked, 5_000)).toEqual(await parse(kind, bytes));
});

test.each<[NativeAgentKind, number, Partial<ReturnType<typeof deriveAgentMetadata>>]>([
  ['gemini-cli', 7, { modelCalls: 3, models: ['gemini-2.5-pro'] }],
  [
    'qwen-code',
    7,
    { modelCalls: 3, models: ['qwen3-coder-plus'], approvalPolicy: 'never', own: { approvalPolicy: 'yolo' } },
  ],
  ['claude-code', 7, { models: ['claude-sonnet-4-5'], costUsd: 0.195123 }],
])('%s prints one document with the output format json', async (kind, chunkBytes, expected) => {
  const { output, events, metadata } = await parse(
    kind,
    recordingsOf(kind).bytesOf('json.stream.jsonl'),
    chunkBytes,
  );
  expect(output).toMatchObject({ ending: 'completed', malformed: 0, unknown: 0 });
  expect(events.at(-1)?.type).toBe('usage');
  expect(metadata).toMatchObject(expected);
  const said = events.flatMap((event) => (event.type === 'message' ? event.text : []));
  expect(said.at(-1)).toBe('I think about it for a while, and then I do it.');
});

test('output that only begins like a document is read line by line', async () => {
  const lines = ['{', streamOf('pi').toString().trimEnd()];
  const { events, output } = await parse('pi', Buffer.from(lines.join('\n')));
  expect(output.malformed).toBe(1);
  expect(events[0]).toEqual({ type: 'raw', native: '{' });
  expect(output.ending).toBe('completed');
});

test('cost with partial messages is that of the turn', async () => {
  const bytes = recordingsOf('claude-code').bytesOf('partial-messages.stream.jsonl');
  const { output, metadata } = await parse('claude-code', bytes);
  expect(output.costUsd).toBeGreaterThan(0);
  expect(metadata.costUsd).toBe(output.costUsd);
});

test('the usage of a Codex thread is not that of a turn', async () => {
  const { output, events } = await parse(
    'codex-cli',
    recordingsOf('codex-cli').bytesOf('main-resumed.stream.jsonl'),
  );
  expect(output).not.toHaveProperty('usage');
  expect(events.at(-1)).toMatchObject({ type: 'raw', native: { usage: { input_tokens: 104_916 } } });
});
