import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deriveAgentMetadata, type StreamEvent, type StreamEventType } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import { readNative } from './__fixtures__/read-native.ts';
import { type NativeAgentKind, nativeAgentOf } from './native-agents.ts';

const call = ['action.called', 'subagent.called'] as const;
/** The sub-agent ends before the call has its result. */
const reportFirst = [...call, 'subagent.completed', 'action.result'] as const;
/** The call has its result first, usually the message that the sub-agent started. */
const resultFirst = [...call, 'action.result', 'subagent.completed'] as const;

/** Recordings with a delegation, and the events of the first one. */
const recordings: readonly (readonly [NativeAgentKind, string, readonly StreamEventType[]])[] = [
  ['bub', 'bub-0.4-by-hand/main.transcript.jsonl', reportFirst],
  ['claude-code', 'claude-code-2.1.330/foreground-subagent.stream.jsonl', reportFirst],
  ['claude-code', 'claude-code-2.1.330/task.stream.jsonl', resultFirst],
  ['claude-code', 'claude-code-2.1.330/task.transcript.jsonl', resultFirst],
  ['codex-cli', 'codex-0.169.0/agents.stream.jsonl', resultFirst],
  ['codex-cli', 'codex-0.169.0/agents.transcript.jsonl', resultFirst],
  // Codex does not report the end of a sub-agent that it does not wait for.
  ['codex-cli', 'codex-0.169.0/code-mode.transcript.jsonl', [...call, 'action.result']],
  ['copilot', 'copilot-1.0.102/main.stream.jsonl', resultFirst],
  ['copilot', 'copilot-1.0.102/main.transcript.jsonl', resultFirst],
  ['copilot', 'copilot-1.0.102/agent-fails.stream.jsonl', reportFirst],
  ['gemini-cli', 'gemini-0.61.0/agent.stream.jsonl', reportFirst],
  ['gemini-cli', 'gemini-0.61.0/agent.transcript.jsonl', reportFirst],
  ['gemini-cli', 'gemini-0.61.0/agent-gives-up.stream.jsonl', reportFirst],
  ['opencode-cli', 'opencode-1.18.33/main.stream.jsonl', reportFirst],
  ['opencode-cli', 'opencode-1.18.33/main.transcript.json', reportFirst],
  ['qwen-code', 'qwen-code-0.24.4/foreground-subagent.stream.jsonl', reportFirst],
  ['qwen-code', 'qwen-code-0.24.4/task.stream.jsonl', resultFirst],
  ['qwen-code', 'qwen-code-0.24.4/task.transcript.jsonl', resultFirst],
];

function eventsOf(kind: NativeAgentKind, file: string): StreamEvent[] {
  const { stream, transcript } = nativeAgentOf(kind) ?? {};
  const createMapper = file.includes('.stream.') ? stream?.open : transcript?.createMapper;
  if (!createMapper) throw new Error(`${kind} does not read ${file}.`);
  const form = file.endsWith('.json') ? 'document' : 'lines';
  const bytes = readFileSync(join(import.meta.dirname, kind, '__fixtures__', file));
  return readNative(createMapper({ workdir: '/workspace' }), bytes, { form }).events;
}

describe.each(recordings)('%s: %s', (kind, file, expected) => {
  const events = eventsOf(kind, file);
  const delegations = events.flatMap((event) => (event.type === 'subagent.called' ? [event.callId] : []));

  test('a delegation is a call and a sub-agent, both under the id of the call', () => {
    const [first] = delegations;
    const ofTheCall = events.filter((event) => 'callId' in event && event.callId === first);
    expect(ofTheCall.map(({ type }) => type)).toEqual(expected);
    const [called, started] = ofTheCall;
    expect(called).toMatchObject({ input: expect.anything() });
    expect(events.indexOf(started as StreamEvent)).toBe(events.indexOf(called as StreamEvent) + 1);
  });

  test('each delegation counts as one tool', () => {
    const tools = deriveAgentMetadata(events).tools.map(({ callId }) => callId);
    for (const callId of delegations) expect(tools.filter((id) => id === callId)).toHaveLength(1);
  });

  test('every event of a sub-agent belongs to a delegation', () => {
    const parents = events.flatMap(({ parentCallId }) => parentCallId ?? []);
    expect(parents.filter((parent) => !delegations.includes(parent))).toEqual([]);
  });
});
