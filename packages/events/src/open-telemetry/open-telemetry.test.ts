import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventStreams } from '../__fixtures__/event-streams.ts';
import { richStream } from '../__fixtures__/rich-stream.ts';
import type { StreamEvent } from '../index.ts';
import { type GenAiSpanOptions, type OtlpSpan, toGenAiSpans } from './index.ts';

/** What the protocol's JSON encoding allows. Unknown keys are a mistake here. */
const attributesSchema = z.array(
  z.strictObject({
    key: z.string().min(1),
    value: z.union([
      z.strictObject({ stringValue: z.string() }),
      z.strictObject({ intValue: z.string().regex(/^\d+$/) }),
    ]),
  }),
);
const nano = z.string().regex(/^\d{1,20}$/);
const spanSchema = z.strictObject({
  traceId: z.string().regex(/^(?!0+$)[0-9a-f]{32}$/),
  spanId: z.string().regex(/^(?!0+$)[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string(),
  kind: z.union([z.literal(1), z.literal(3)]),
  startTimeUnixNano: nano,
  endTimeUnixNano: nano,
  attributes: attributesSchema,
  events: z
    .array(z.strictObject({ timeUnixNano: nano, name: z.string(), attributes: attributesSchema }))
    .optional(),
  status: z.strictObject({ code: z.literal(2), message: z.string().optional() }).optional(),
});
const tracesSchema = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: attributesSchema }),
      scopeSpans: z.array(
        z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(spanSchema) }),
      ),
    }),
  ),
});

const options: GenAiSpanOptions = { agentName: 'example-agent', providerName: 'openai', seed: 'case-1' };

function spansOf(events: StreamEvent[], more: Partial<GenAiSpanOptions> = {}): OtlpSpan[] {
  const { spans } = toGenAiSpans(events, { ...options, ...more });
  const parsed = tracesSchema.safeParse(JSON.parse(JSON.stringify(spans)));
  expect(parsed.error?.issues).toBeUndefined();
  return spans.resourceSpans.flatMap((resource) => resource.scopeSpans.flatMap((scope) => scope.spans));
}

const attribute = (span: OtlpSpan | undefined, key: string): string | undefined => {
  const value = span?.attributes.find((candidate) => candidate.key === key)?.value;
  return value && ('stringValue' in value ? value.stringValue : value.intValue);
};
const seconds = (span: OtlpSpan | undefined): [number, number] => {
  const second = (value: string | undefined) => Number(BigInt(value ?? 0) / 1_000_000n) / 1000;
  const origin = Date.UTC(2026, 0, 2, 3, 4) / 1000;
  return [second(span?.startTimeUnixNano) - origin, second(span?.endTimeUnixNano) - origin];
};

describe('the trace of a rich stream', () => {
  test('with its content is the recorded one', async () => {
    const written = toGenAiSpans(richStream, { ...options, captureContent: true });
    await expect(`${JSON.stringify(written, null, 2)}\n`).toMatchFileSnapshot(
      '../__fixtures__/rich-stream.otlp.json',
    );
  });

  test('is a tree of agents, model calls and tools', () => {
    const spans = spansOf(richStream);
    const name = (id: string | undefined) => spans.find((span) => span.spanId === id)?.name;
    expect(spans.map((span) => [span.name, name(span.parentSpanId)])).toEqual([
      ['invoke_agent example-agent', undefined],
      ['chat example-model', 'invoke_agent example-agent'],
      ['execute_tool shell', 'invoke_agent example-agent'],
      ['execute_tool read_file', 'invoke_agent example-agent'],
      ['chat example-model', 'invoke_agent example-agent'],
      ['execute_tool task', 'invoke_agent example-agent'],
      ['invoke_agent reviewer', 'execute_tool task'],
      ['chat example-model', 'invoke_agent reviewer'],
      ['execute_tool read_file', 'invoke_agent reviewer'],
      ['chat small-model', 'invoke_agent reviewer'],
      ['chat example-model', 'invoke_agent example-agent'],
      ['execute_tool shell', 'invoke_agent example-agent'],
      ['chat example-model', 'invoke_agent example-agent'],
    ]);
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
  });

  test('has the times of the events', () => {
    const spans = spansOf(richStream);
    const [root, chat, shell, read, , , reviewer] = spans;
    expect(seconds(root)).toEqual([0, 27]);
    expect(seconds(chat), 'its latency before its end').toEqual([0.5, 4]);
    expect([seconds(shell), seconds(read)]).toEqual([
      [5, 8],
      [5, 6],
    ]);
    expect(seconds(reviewer)).toEqual([12, 18]);
    const unmetered = spans.filter((span) => span.name.startsWith('chat')).at(-1);
    expect(seconds(unmetered), 'from the event before it').toEqual([26, 27]);
  });

  test('counts cached tokens as input, and each token once', () => {
    const spans = spansOf(richStream);
    expect(attribute(spans[1], 'gen_ai.usage.input_tokens')).toBe('1050');
    expect(attribute(spans[1], 'gen_ai.usage.cache_read.input_tokens')).toBe('900');
    const counted = spans.map((span) => Number(attribute(span, 'gen_ai.usage.output_tokens') ?? 0));
    expect(counted.reduce((sum, tokens) => sum + tokens, 0)).toBe(68);
  });

  test('shows failures, but not an error after which the agent continued', () => {
    const failed = spansOf(richStream).filter((span) => span.status);
    expect(failed.map((span) => [span.name, attribute(span, 'error.type')])).toEqual([
      ['execute_tool shell', 'failed'],
      ['execute_tool shell', 'rejected'],
    ]);
    const [root] = spansOf([...richStream, { type: 'error', message: 'out of budget' }]);
    expect(root?.status).toEqual({ code: 2, message: 'out of budget' });
    expect(attribute(root, 'error.type')).toBe('_OTHER');
  });

  test('has no content unless you ask for it', () => {
    const plain = JSON.stringify(spansOf(richStream));
    for (const content of ['npm test', 'a - b', 'The test comes first.', 'Fix the failing test.', 'Done']) {
      expect(plain).not.toContain(content);
    }
    const { lost } = toGenAiSpans(richStream, options);
    expect(lost.find((loss) => loss.what === 'message')?.count).toBe(6);
    const chat = spansOf(richStream, { captureContent: true })[1];
    expect(JSON.parse(attribute(chat, 'gen_ai.input.messages') ?? '')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Fix the failing test.' }] },
    ]);
  });

  test('has other ids without a seed, and the same ids with it', () => {
    const ids = (seed: { seed?: string }) => {
      const { spans } = toGenAiSpans(richStream, { agentName: 'example-agent', ...seed });
      return JSON.stringify(spans).match(/"spanId":"\w+"/g);
    };
    expect(ids({ seed: 'a' })).toEqual(ids({ seed: 'a' }));
    expect(ids({ seed: 'a' })).not.toEqual(ids({ seed: 'b' }));
    expect(ids({})).not.toEqual(ids({}));
  });
});

test("a stream without times gets the caller's time", () => {
  const untimed = richStream.map(({ at, ...event }) => event as StreamEvent);
  const { lost } = toGenAiSpans(untimed, options);
  expect(lost.find((loss) => loss.what === 'at')?.count).toBe(untimed.length);
  for (const span of spansOf(untimed, { startedAt: '2026-01-02T03:04:07.000Z' })) {
    expect(seconds(span)[1]).toBe(7);
  }
});

test('a model call from before 1970 begins in 1970', () => {
  const usage = { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 }, latencyMs: 5 } as const;
  expect(spansOf([usage]).map((span) => span.startTimeUnixNano)).toEqual(['0', '0']);
});

test('any stream gives a valid trace with one tree, and every event is in it or listed as lost', () => {
  fc.assert(
    fc.property(eventStreams(), fc.boolean(), (events, captureContent) => {
      const spans = spansOf(events, { captureContent });
      const { lost } = toGenAiSpans(events, { ...options, captureContent });
      const ids = new Set(spans.map((span) => span.spanId));
      expect(ids.size).toBe(spans.length);
      expect(spans.filter((span) => span.parentSpanId === undefined)).toHaveLength(1);
      // One assertion for all: there are tens of thousands.
      const hasNoParent = ({ parentSpanId }: (typeof spans)[number]) =>
        parentSpanId !== undefined && !ids.has(parentSpanId);
      expect(spans.filter(hasNoParent)).toEqual([]);
      expect(spans.filter((span) => BigInt(span.endTimeUnixNano) < BigInt(span.startTimeUnixNano))).toEqual(
        [],
      );
      const named = (operation: string) =>
        spans.filter((span) => attribute(span, 'gen_ai.operation.name') === operation).length;
      const losses = (type: string) =>
        lost.filter((loss) => loss.what === type).reduce((sum, loss) => sum + loss.count, 0);
      const count = (type: string) => events.filter((event) => event.type === type).length;
      expect(named('execute_tool') + losses('action.called')).toBe(count('action.called'));
      expect(named('invoke_agent') - 1 + losses('subagent.called')).toBe(count('subagent.called'));
      const counted = spans.filter(
        (span) => attribute(span, 'gen_ai.usage.input_tokens') !== undefined,
      ).length;
      expect(counted + losses('usage')).toBe(count('usage'));
      for (const type of ['raw', 'compaction', 'file.changed']) expect(losses(type)).toBe(count(type));
    }),
    { numRuns: 300 },
  );
});
