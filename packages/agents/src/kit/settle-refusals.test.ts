import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deriveAgentMetadata, type StreamEvent } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import { parseNative } from '../native/parse-native.ts';
import { settleRefusals } from './settle-refusals.ts';

const native = join(import.meta.dirname, '../native');

describe.each([
  ['claude-code', 'claude-code-2.1.330', ['stream', 'transcript']],
  ['gemini-cli', 'gemini-0.61.0', ['stream', 'transcript']],
  ['qwen-code', 'qwen-code-0.24.4', ['stream', 'transcript']],
  ['copilot', 'copilot-1.0.102', ['stream', 'transcript']],
] as const)('%s', (kind, folder, forms) => {
  test.each(forms)('a refusal has one shape in its %s', async (form) => {
    const bytes = readFileSync(join(native, kind, '__fixtures__', folder, `denied.${form}.jsonl`));
    const events: StreamEvent[] = [];
    await parseNative(
      kind,
      (async function* () {
        yield bytes;
      })(),
      { form, emit: (event) => events.push(event) },
    );
    const refused = events.flatMap((event) =>
      event.type === 'action.result' && event.status === 'rejected' ? [event.callId] : [],
    );
    expect(refused.length).toBeGreaterThan(0);
    for (const callId of refused) {
      const about = events.filter((event) => 'callId' in event && event.callId === callId);
      expect(about.map(({ type }) => type)).toEqual([
        ...['action.called', 'approval.requested', 'approval.decided', 'action.result'],
      ]);
      expect(about[2]).toMatchObject({ decision: 'denied', by: 'agent' });
    }
    const { approvals } = deriveAgentMetadata(events);
    expect(approvals.map(({ callId }) => callId)).toEqual(refused);
  });
});

test('who decided stays, a decision is reported once, and a denied call is rejected', () => {
  const events: StreamEvent[] = [];
  const add = settleRefusals((event) => events.push(event));
  add({ type: 'action.called', callId: 'a', name: 'bash', input: {} });
  add({ type: 'approval.requested', callId: 'a' });
  add({ type: 'approval.decided', callId: 'a', decision: 'denied', by: 'policy', rule: 'default' });
  add({ type: 'action.result', callId: 'a', status: 'failed' });
  add({ type: 'approval.requested', callId: 'a' });
  add({ type: 'approval.decided', callId: 'a', decision: 'denied', by: 'agent' });
  expect(events.slice(1)).toEqual([
    { type: 'approval.requested', callId: 'a' },
    { type: 'approval.decided', callId: 'a', decision: 'denied', by: 'policy', rule: 'default' },
    { type: 'action.result', callId: 'a', status: 'rejected' },
  ]);
});
