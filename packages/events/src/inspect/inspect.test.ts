import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type StreamEvent, streamEventSchema } from '../index.ts';
import {
  chunkedSampleEntries,
  header,
  LONG_OUTPUT,
  wholeSample,
  wholeSampleEntry,
} from './__fixtures__/sample-log.ts';
import { writeZip, type ZipEntry } from './__fixtures__/zip-writer.ts';
import { InspectLogError, type InspectSample, type ReadInspectLogOptions, readInspectLog } from './index.ts';

async function samplesOf(
  source: string | Uint8Array,
  options?: ReadInspectLogOptions,
): Promise<InspectSample[]> {
  const samples: InspectSample[] = [];
  for await (const sample of readInspectLog(source, options)) samples.push(sample);
  for (const event of samples.flatMap((sample) => sample.events)) {
    expect(streamEventSchema.parse(event)).toEqual(event);
  }
  return samples;
}

const logOf = (...entries: ZipEntry[]): Buffer => writeZip([header, ...entries]);
const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 2, 3, 4, seconds)).toISOString();

const usage = {
  type: 'usage',
  usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 900, reasoningTokens: 5 },
  model: 'example-model',
  costUsd: 0.001,
  latencyMs: 1500,
};
const expectedEvents = [
  { type: 'session.started', runtime: 'inspect_ai', model: 'openai/example-model' },
  { type: 'message', role: 'user', text: 'Fix the failing test.', at: at(1) },
  { type: 'thinking', text: 'The test comes first.', at: at(3) },
  { type: 'message', role: 'assistant', text: 'I run it.', at: at(3) },
  { type: 'action.called', callId: 'call-1', name: 'bash', input: { cmd: 'npm test' }, at: at(3) },
  { ...usage, at: at(3) },
  { type: 'approval.requested', callId: 'call-1', name: 'bash', at: at(3) },
  { type: 'approval.decided', callId: 'call-1', decision: 'approved', by: 'policy', rule: 'auto', at: at(3) },
  { type: 'action.result', callId: 'call-1', output: LONG_OUTPUT, status: 'failed', at: at(5) },
  { type: 'message', role: 'assistant', text: 'A reviewer reads along.', at: at(7) },
  { type: 'action.called', callId: 'call-2', name: 'reviewer', input: { input: 'sum.ts' }, at: at(7) },
  { ...usage, at: at(7) },
  { type: 'subagent.called', callId: 'call-2', name: 'reviewer', at: at(8) },
  { type: 'message', role: 'user', text: 'Review sum.ts', at: at(8), parentCallId: 'call-2' },
  { type: 'message', role: 'assistant', text: 'The sign is wrong.', at: at(9), parentCallId: 'call-2' },
  { ...usage, at: at(9), parentCallId: 'call-2' },
  { type: 'subagent.completed', callId: 'call-2', status: 'completed', at: at(10) },
  { type: 'action.result', callId: 'call-2', output: 'The sign is wrong.', status: 'completed', at: at(11) },
];

describe('a log with both shapes of samples', () => {
  const mixed = logOf(
    wholeSampleEntry('a', 'deflate'),
    ...chunkedSampleEntries('folder/b'),
    wholeSampleEntry(3, 'zstd'),
    ...chunkedSampleEntries('d', 100, 'stored'),
  );

  test('has every sample, with the same events', async () => {
    const samples = await samplesOf(mixed);
    expect(samples.map(({ id, shape }) => [id, shape])).toEqual([
      ['a', 'whole'],
      ['folder/b', 'chunked'],
      [3, 'whole'],
      ['d', 'chunked'],
    ]);
    for (const sample of samples) {
      expect(sample.events).toEqual(expectedEvents);
      expect(sample).toMatchObject({
        epoch: 1,
        usage: { inputTokens: 400, outputTokens: 80 },
        costUsd: 0.004,
        scores: { accuracy: { value: 'C' } },
        metadata: {
          status: 'success',
          task: 'repair',
          taskId: 't1',
          evalId: 'e1',
          runId: 'r1',
          model: 'openai/example-model',
          sample: { difficulty: 'easy' },
        },
      });
      expect(sample.lost).toEqual([
        { what: 'sample_init', count: 1, why: 'it repeats the sample' },
        { what: 'message system', count: 1, why: 'a message has the role user or assistant' },
        { what: 'state', count: 1, why: 'events have no place for it' },
        { what: 'model in a scorer', count: 1, why: 'a scorer is not the agent' },
      ]);
    }
  });

  test('is read from a file, and the loop may be left before its end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'whetstone-inspect-'));
    try {
      const path = join(folder, 'log.eval');
      await writeFile(path, mixed);
      for await (const sample of readInspectLog(path)) {
        expect(sample.id).toBe('a');
        break;
      }
      expect(await samplesOf(path)).toHaveLength(4);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('is read from one .json file', async () => {
    const log = { ...JSON.parse(String(header.data)), samples: [wholeSample('a'), wholeSample('b')] };
    const samples = await samplesOf(Buffer.from(JSON.stringify(log)));
    expect(samples.map((sample) => sample.id)).toEqual(['a', 'b']);
    expect(samples[1]?.events).toEqual(expectedEvents);
  });

  test('has the same sample in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), async (size) => {
        const [sample] = await samplesOf(logOf(...chunkedSampleEntries('x', size)));
        expect(sample?.events).toEqual(expectedEvents);
      }),
      { numRuns: 10 },
    );
  });

  test('is read from an evaluation that has not ended', async () => {
    const start = { ...header, name: '_journal/start.json', data: JSON.stringify({ version: 2, eval: {} }) };
    const [sample] = await samplesOf(writeZip([start, wholeSampleEntry('a')]));
    expect(sample?.metadata.status).toBe('started');
  });
});

describe('in a sample', () => {
  const sampleOf = async (more: object): Promise<InspectSample | undefined> => {
    const sample = { id: 'x', epoch: 1, input: 'go', target: '', ...more };
    const [read] = await samplesOf(logOf({ name: 'samples/x_epoch_1.json', data: JSON.stringify(sample) }));
    return read;
  };
  const model = (input: unknown[], message: object, more: object = {}) => ({
    event: 'model',
    model: 'm',
    input,
    output: { model: '', choices: [{ message: { role: 'assistant', ...message } }] },
    ...more,
  });
  const eventsOf = async (events: unknown[]): Promise<StreamEvent[] | undefined> =>
    (await sampleOf({ events }))?.events.slice(1);

  test('results of tools that ran outside Inspect are read from the next input', async () => {
    const calls = { content: '', tool_calls: [{ id: 'c', function: 'ls', arguments: {} }] };
    const input = [{ role: 'user', content: 'go' }];
    const result = { role: 'tool', tool_call_id: 'c', content: 'a.ts' };
    const again = [...input, { role: 'assistant', ...calls }, result];
    expect(
      await eventsOf([model(input, calls), model(again, { content: 'ok' }), model(again, { content: 'ok' })]),
    ).toEqual([
      { type: 'message', role: 'user', text: 'go' },
      { type: 'action.called', callId: 'c', name: 'ls', input: {} },
      { type: 'action.result', callId: 'c', output: 'a.ts', status: 'completed' },
      { type: 'message', role: 'assistant', text: 'ok' },
      { type: 'message', role: 'assistant', text: 'ok' },
    ]);
  });

  test('the same text said again is another message, and a retried call repeats none', async () => {
    const go = { role: 'user', content: 'go' };
    const said = { role: 'assistant', content: 'yes' };
    const events = await eventsOf([
      model([go], { content: 'yes' }),
      model([go, said, go], { content: 'yes' }),
      model([go, said, go], { content: 'yes' }),
    ]);
    expect(events?.filter((event) => event.type === 'message' && event.role === 'user')).toHaveLength(2);
  });

  test('a scorer is also left out of logs with steps instead of spans', async () => {
    const sample = await sampleOf({
      events: [
        { event: 'step', action: 'begin', type: 'solver', name: 'generate' },
        model([], { content: 'done' }),
        { event: 'step', action: 'end', type: 'solver', name: 'generate' },
        { event: 'step', action: 'begin', type: 'scorer', name: 'model_graded_qa' },
        model([], { content: 'GRADE: C' }),
        { event: 'step', action: 'end', type: 'scorer', name: 'model_graded_qa' },
      ],
    });
    expect(sample?.events.slice(1)).toEqual([{ type: 'message', role: 'assistant', text: 'done' }]);
    expect(sample?.lost).toEqual([{ what: 'model in a scorer', count: 1, why: 'a scorer is not the agent' }]);
  });

  test('the conversation replaces a missing transcript', async () => {
    const sample = await sampleOf({
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: [
            { type: 'image', image: 'x' },
            { type: 'text', text: 'done' },
          ],
        },
      ],
    });
    expect(sample?.events.slice(1)).toEqual([
      { type: 'message', role: 'user', text: 'go' },
      { type: 'message', role: 'assistant', text: 'done' },
    ]);
    expect(sample?.lost).toEqual([{ what: 'content image', count: 1, why: 'events only carry text' }]);
  });

  test('errors, limits, compaction, refused calls and replies from a cache are read', async () => {
    const reply = { content: '', tool_calls: [{ id: 'c', function: 'rm', arguments: {} }] };
    const cached = model([], reply, { cache: 'read' });
    Object.assign(cached.output, { usage: { input_tokens: 5, output_tokens: 1 } });
    const sample = await sampleOf({
      error: { message: 'it broke' },
      events: [
        cached,
        { event: 'tool', id: 'c', function: 'rm', result: '', error: { type: 'approval', message: 'no' } },
        { event: 'compaction', tokens_before: 9 },
        { event: 'error', error: { message: 'it broke' } },
        { event: 'sample_limit', type: 'token', message: 'exceeded' },
        { event: 'tool', function: 'without an id' },
        { event: 'from the future' },
        { event: 'constructor' },
        7,
      ],
    });
    expect(sample?.events.slice(1)).toEqual([
      { type: 'action.called', callId: 'c', name: 'rm', input: {} },
      { type: 'action.result', callId: 'c', output: 'no', status: 'rejected' },
      { type: 'compaction' },
      { type: 'error', message: 'it broke' },
      { type: 'error', message: 'limit token: exceeded' },
    ]);
    expect(sample?.metadata.error).toBe('it broke');
    expect(sample?.lost.map((loss) => loss.what)).toEqual([
      'model.output.usage',
      'compaction.tokens',
      'tool',
      'from the future',
      'constructor',
      'event',
    ]);
  });

  test('a missing attachment leaves its reference', async () => {
    const sample = await sampleOf({
      events: [model([], { content: 'attachment://gone' })],
    });
    expect(sample?.events[1]).toMatchObject({ text: 'attachment://gone' });
    expect(sample?.lost.map((loss) => loss.what)).toEqual(['attachment']);
  });

  test('NaN, as Python writes it, becomes null', async () => {
    const data = '{"id":1,"epoch":1,"input":"NaN","scores":{"a":NaN,"b":-Infinity,"c":"\\"NaN"},"events":[]}';
    const [sample] = await samplesOf(logOf({ name: 'samples/1_epoch_1.json', data }));
    expect(sample?.scores).toEqual({ a: null, b: null, c: '"NaN' });
  });

  test('an entry with several zstd frames is read to its end', async () => {
    const [sample] = await samplesOf(logOf(wholeSampleEntry('a', 'zstd-frames')));
    expect(sample?.events).toEqual(expectedEvents);
  });
});

describe('hostile and damaged logs', () => {
  const failureOf = async (log: Uint8Array, options?: ReadInspectLogOptions): Promise<InspectLogError> => {
    const error = await samplesOf(log, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InspectLogError);
    return error as InspectLogError;
  };
  const name = 'samples/x_epoch_1.json';
  const entry = (data: string, more: Partial<ZipEntry> = {}): ZipEntry => ({ name, data, ...more });

  test.each<[string, Uint8Array, object]>([
    ['nothing', Buffer.alloc(0), { code: 'inspect-log-invalid', where: undefined }],
    ['some text', Buffer.from('hello'), { code: 'inspect-log-invalid', where: undefined }],
    ['another JSON', Buffer.from('{"a":1}'), { code: 'inspect-log-invalid', where: undefined }],
    ['another archive', writeZip([entry('{}')]), { code: 'inspect-log-invalid', where: undefined }],
    ['garbage', logOf(entry('{"id":')), { code: 'inspect-log-damaged', where: name }],
    ['no sample', logOf(entry('{"id":{}}')), { code: 'inspect-log-invalid', where: name }],
    [
      'a wrong checksum',
      logOf(entry('{}', { claims: { crc: 1 } })),
      { code: 'inspect-log-damaged', where: name },
    ],
    [
      'a wrong size',
      logOf(entry('{}', { claims: { size: 3 } })),
      { code: 'inspect-log-damaged', where: name },
    ],
    [
      'encryption',
      logOf(entry('{}', { claims: { flags: 1 } })),
      { code: 'inspect-log-unsupported', where: name },
    ],
    ['bzip2', logOf(entry('{}', { method: 'unknown' })), { code: 'inspect-log-unsupported', where: name }],
    [
      'a missing chunk',
      logOf(...chunkedSampleEntries('x').filter((chunk) => !chunk.name.endsWith('/events/2.json'))),
      { code: 'inspect-log-damaged', where: 'samples/x_epoch_1/events/4.json' },
    ],
    [
      'a missing last chunk',
      logOf(...chunkedSampleEntries('x').filter((chunk) => !chunk.name.endsWith('/events/16.json'))),
      { code: 'inspect-log-damaged', where: 'samples/x_epoch_1/events/uuids.json' },
    ],
    [
      'a missing shell',
      logOf(...chunkedSampleEntries('x').filter((chunk) => !chunk.name.endsWith('/sample.json'))),
      { code: 'inspect-log-damaged', where: expect.stringMatching(/^samples\/x_epoch_1\//) },
    ],
    [
      'nesting',
      logOf(entry(`{"id":1,"epoch":1,"input":"","metadata":${'['.repeat(5000)}${']'.repeat(5000)}}`)),
      { code: 'inspect-log-invalid', where: name },
    ],
  ])('%s is a typed error', async (_what, log, expected) => {
    expect(await failureOf(log)).toMatchObject(expected);
  });

  test('the samples before a damaged one are read', async () => {
    const given: unknown[] = [];
    const read = async () => {
      for await (const sample of readInspectLog(logOf(wholeSampleEntry('a'), entry('{'))))
        given.push(sample.id);
    };
    await expect(read()).rejects.toMatchObject({ code: 'inspect-log-damaged', where: name });
    expect(given).toEqual(['a']);
  });

  test('a log that is cut off anywhere ends with a typed error', async () => {
    const whole = logOf(wholeSampleEntry('a'), ...chunkedSampleEntries('b'));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 1 }), async (length) => {
        await failureOf(whole.subarray(0, length));
      }),
      { numRuns: 50 },
    );
  });

  test('a flipped byte ends with a typed error, or changes nothing', async () => {
    const whole = logOf(wholeSampleEntry('a'), ...chunkedSampleEntries('b'));
    const directory = whole.readUInt32LE(whole.length - 6);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (position, flip) => {
        const damaged = Buffer.from(whole);
        damaged[position] = (damaged[position] ?? 0) ^ flip;
        const read = await samplesOf(damaged).catch((error: unknown) => error);
        if (read instanceof Error) expect(read).toBeInstanceOf(InspectLogError);
        // Nothing protects the directory: a changed name there is the name of another entry.
        else if (position < directory)
          expect(read).toMatchObject([{ events: expectedEvents }, { events: expectedEvents }]);
      }),
      { numRuns: 150 },
    );
  });

  test.each(['deflate', 'zstd', 'zstd-frames'] as const)('a %s bomb is not decompressed', async (method) => {
    const data = Buffer.alloc(8 * 2 ** 20, ' ');
    const honest = logOf({ name, data, method });
    const lying = logOf({ name, data, method, claims: { size: 100 } });
    const limit = { maximumEntryBytes: 2 ** 20 };
    expect(await failureOf(honest, limit)).toMatchObject({ code: 'inspect-log-too-large', where: name });
    expect(await failureOf(lying, limit)).toMatchObject({ code: 'inspect-log-too-large', where: name });
  });

  test('many small entries of one sample have a common limit', async () => {
    const log = logOf(...chunkedSampleEntries('a', 1), ...chunkedSampleEntries('b', 1));
    expect(await samplesOf(log, { maximumSampleBytes: 20_000 })).toHaveLength(2);
    expect(await failureOf(log, { maximumSampleBytes: 3_000 })).toMatchObject({
      code: 'inspect-log-too-large',
    });
  });

  test('a name that points to another folder is only a name', async () => {
    const evil = { ...wholeSampleEntry('a'), name: 'samples/../../etc/x_epoch_1.json' };
    const other = { name: '../outside.json', data: 'not read' };
    expect((await samplesOf(logOf(evil, other))).map((sample) => sample.id)).toEqual(['a']);
  });

  test('a missing file is an error of the file system', async () => {
    await expect(samplesOf(join(tmpdir(), 'no-such-log.eval'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
