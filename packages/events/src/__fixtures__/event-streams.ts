import fc from 'fast-check';
import type { JsonValue } from '../json.ts';
import type { StreamEvent } from '../stream-event.ts';

/**
 * Streams that no agent would produce: any event in any order, repeated ids, results without calls, sub-agents that
 * nothing started or that started themselves.
 */
export function eventStreams(): fc.Arbitrary<StreamEvent[]> {
  const callId = fc.constantFrom('a', 'b', 'c', 'd');
  const text = fc.oneof(fc.string(), fc.constantFrom('', 'x', '\u{1f600}'));
  // A stream has no values that JSON cannot carry, such as -0.
  const json = fc.jsonValue({ maxDepth: 2 }).map((value): JsonValue => JSON.parse(JSON.stringify(value)));
  const envelope = fc.record(
    {
      at: fc
        .date({ min: new Date('2026-01-01'), max: new Date('2026-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      turn: fc.nat(2),
      source: fc.constantFrom('agent', 'gateway', 'host'),
      parentCallId: callId,
    },
    { requiredKeys: [] },
  );
  const of = (type: StreamEvent['type'], fields: Record<string, fc.Arbitrary<unknown>>, optional: string[] = []) =>
    fc.tuple(
      fc.record({ type: fc.constant(type), ...fields }, {
        requiredKeys: ['type', ...Object.keys(fields).filter((key) => !optional.includes(key))] as 'type'[],
      }),
      envelope,
    );
  const usage = fc.record(
    {
      inputTokens: fc.nat(1e6),
      outputTokens: fc.nat(1e6),
      cacheReadTokens: fc.nat(1e6),
      cacheWriteTokens: fc.nat(1e6),
      reasoningTokens: fc.nat(1e6),
    },
    { requiredKeys: ['inputTokens', 'outputTokens'] },
  );
  const event = fc
    .oneof(
      of('message', { role: fc.constantFrom('assistant', 'user'), text }),
      of('thinking', { text }),
      of('action.called', { callId, name: text, input: json }),
      of('action.result', { callId, output: json, status: fc.constantFrom('completed', 'failed', 'rejected') }, [
        'output',
      ]),
      of('subagent.called', { callId, name: text }),
      of('subagent.completed', { callId, output: json, status: fc.constantFrom('completed', 'failed') }, [
        'output',
      ]),
      of('usage', { usage, calls: fc.constantFrom(null, 2), model: fc.constantFrom('m', 'n'), costUsd: fc.nat(9), latencyMs: fc.nat(9) }, [
        'calls',
        'model',
        'costUsd',
        'latencyMs',
      ]),
      of('error', { message: text }),
      of('raw', { native: json }),
      of('compaction', {}),
      of('file.changed', { path: text, change: fc.constant('added') }),
      of('session.started', { sessionId: text, model: text, workingDir: text }, [
        'sessionId',
        'model',
        'workingDir',
      ]),
    )
    .map(([fields, shared]) => ({ ...fields, ...shared }) as StreamEvent);
  return fc.array(event, { maxLength: 30 });
}
