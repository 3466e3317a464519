import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addUsage,
  deriveAgentMetadata,
  parseStreamEvent,
  replyText,
  type StreamEvent,
  totalTokens,
  type Usage,
} from './index.ts';

const usage = fc.record(
  {
    inputTokens: fc.nat(),
    outputTokens: fc.nat(),
    cacheReadTokens: fc.nat(),
    cacheWriteTokens: fc.nat(),
    reasoningTokens: fc.nat(),
  },
  { requiredKeys: ['inputTokens', 'outputTokens'] },
) as fc.Arbitrary<Usage>;

describe('usage', () => {
  test('adding is commutative and associative, and totals add up', () => {
    fc.assert(
      fc.property(usage, usage, usage, (a, b, c) => {
        expect(addUsage(a, b)).toEqual(addUsage(b, a));
        expect(addUsage(addUsage(a, b), c)).toEqual(addUsage(a, addUsage(b, c)));
        expect(totalTokens(addUsage(a, b))).toBe(totalTokens(a) + totalTokens(b));
      }),
    );
  });

  test('a bucket that is not reported stays unknown', () => {
    const sum = addUsage({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 3, outputTokens: 4 });
    expect(sum).toEqual({ inputTokens: 4, outputTokens: 6 });
  });
});

describe('reading events', () => {
  test('an unknown type is ignored and never throws', () => {
    fc.assert(fc.property(fc.anything(), (value) => void parseStreamEvent(value)));
    expect(parseStreamEvent({ type: 'from.the.future', at: '2026-01-01T00:00:00Z' })).toBeUndefined();
    expect(parseStreamEvent({ type: 'message', role: 'nobody', text: '' })).toBeUndefined();
  });

  test('an event survives JSON', () => {
    const event: StreamEvent = {
      type: 'action.result',
      callId: '1',
      status: 'completed',
      output: { exitCode: 0, lines: ['a', null] },
      at: '2026-01-01T00:00:00.000Z',
      turn: 0,
      source: 'agent',
    };
    expect(parseStreamEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
  });

  test('the reply is only what the agent itself said', () => {
    const reply = replyText([
      { type: 'message', role: 'user', text: 'do it' },
      { type: 'message', role: 'assistant', text: 'one' },
      { type: 'message', role: 'assistant', text: 'of a sub-agent', parentCallId: 'x' },
      { type: 'message', role: 'assistant', text: 'two' },
    ]);
    expect(reply).toBe('one\ntwo');
  });
});

describe('agent metadata', () => {
  const events: StreamEvent[] = [
    { type: 'session.started', sessionId: 's', runtime: 'loop', model: 'm' },
    { type: 'action.called', callId: '1', name: 'Bash', input: { command: 'npm test' } },
    { type: 'action.result', callId: '1', status: 'completed', output: { exitCode: 1 } },
    { type: 'action.called', callId: '2', name: 'mcp__files__read', input: {} },
    { type: 'action.called', callId: '3', name: 'load_skill', input: { skill: 'review' } },
    { type: 'action.result', callId: '3', status: 'completed' },
    { type: 'approval.requested', callId: '1' },
    { type: 'approval.decided', callId: '1', decision: 'approved', by: 'policy' },
    { type: 'file.changed', path: 'a.ts', change: 'modified' },
    { type: 'usage', usage: { inputTokens: 5, outputTokens: 1 }, model: 'm', costUsd: 0.5 },
    { type: 'usage', usage: { inputTokens: 7, outputTokens: 2 }, model: 'm' },
    { type: 'error', message: 'oops' },
  ];

  test('derives only from the events', () => {
    expect(deriveAgentMetadata(events, { sandbox: 'process' })).toEqual({
      sessionId: 's',
      runtime: 'loop',
      sandbox: 'process',
      tools: [
        {
          callId: '1',
          name: 'Bash',
          input: { command: 'npm test' },
          status: 'completed',
          output: { exitCode: 1 },
        },
        { callId: '2', name: 'mcp__files__read', input: {}, status: 'pending' },
        { callId: '3', name: 'load_skill', input: { skill: 'review' }, status: 'completed' },
      ],
      commands: [{ callId: '1', command: 'npm test', exitCode: 1, status: 'completed' }],
      fileChanges: [{ path: 'a.ts', change: 'modified' }],
      approvals: [{ callId: '1', decision: 'approved', by: 'policy' }],
      mcp: [{ callId: '2', server: 'files', tool: 'read', status: 'pending' }],
      skills: { confirmed: ['review'], attempted: [] },
      models: ['m'],
      modelCalls: 2,
      usage: { inputTokens: 12, outputTokens: 3 },
      costUsd: 0.5,
      errors: ['oops'],
    });
  });

  test("counts a tool call that delegates as one tool, and its sub-agent's tool calls too", () => {
    const { tools, modelCalls } = deriveAgentMetadata([
      { type: 'action.called', callId: '1', name: 'task', input: { prompt: 'Review.' } },
      { type: 'subagent.called', callId: '1', name: 'reviewer' },
      { type: 'action.called', callId: '2', name: 'Bash', input: { command: 'ls' }, parentCallId: '1' },
      { type: 'usage', usage: { inputTokens: 5, outputTokens: 1 }, parentCallId: '1' },
      { type: 'subagent.completed', callId: '1', status: 'failed' },
      { type: 'action.result', callId: '1', status: 'completed' },
    ]);
    expect(tools.map(({ name, status }) => [name, status])).toEqual([
      ['task', 'completed'],
      ['Bash', 'pending'],
    ]);
    expect(modelCalls).toBe(1);
  });

  test('ignores a result without a call', () => {
    expect(deriveAgentMetadata([{ type: 'action.result', callId: 'x', status: 'failed' }]).tools).toEqual([]);
  });
});
