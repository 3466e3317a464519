import { present } from '@whetstone/events/present';
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

  test.each<[StreamEvent, own: object]>([
    [{ type: 'message', role: 'user', text: 'hello' }, { loc: { file: 'a.eval.ts', line: 3 } }],
    [{ type: 'action.called', callId: '1', name: 'Skill', input: { skill: 'memory' } }, { tool: 'skill' }],
    [{ type: 'action.result', callId: '1', status: 'completed', output: 'cut' }, { truncated: true }],
    [{ type: 'skill.loaded', skill: 'memory', callId: '1' }, {}],
  ])('what other tools add to an event is ignored: $0.type', (event, own) => {
    expect(parseStreamEvent({ ...event, ...own })).toEqual(event);
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
    { type: 'skill.loaded', skill: 'testing' },
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
      skills: { confirmed: ['testing', 'review'], attempted: [] },
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

  test('a usage of several calls counts as many as it says, and of an unknown number as unknown', () => {
    const used = (calls?: number | null): StreamEvent => ({
      ...{ type: 'usage', usage: { inputTokens: 5, outputTokens: 1 } },
      ...present({ calls }),
    });
    expect(deriveAgentMetadata([used(), used(3)]).modelCalls).toBe(4);
    expect(deriveAgentMetadata([used(), used(null)]).modelCalls).toBeNull();
    expect(deriveAgentMetadata([]).modelCalls).toBeNull();
    expect(deriveAgentMetadata([used(null)], { modelCalls: 2 }).modelCalls).toBe(2);
  });

  test('the models are those that answered, or else the one that the session began with', () => {
    const started: StreamEvent = { type: 'session.started', model: 'auto' };
    const usage = { inputTokens: 5, outputTokens: 1 };
    const modelsOf = (...events: StreamEvent[]) => deriveAgentMetadata([started, ...events]).models;
    expect(modelsOf({ type: 'usage', usage, model: 'm' })).toEqual(['m']);
    expect(modelsOf({ type: 'usage', usage })).toEqual(['auto']);
  });

  test.each<[string, StreamEvent[]]>([
    ['only as the end of the call', [{ type: 'action.result', callId: '1', status: 'rejected' }]],
    ['only as a decision', [{ type: 'approval.decided', callId: '1', decision: 'denied' }]],
    [
      'as a decision and a failure',
      [
        { type: 'approval.decided', callId: '1', decision: 'denied' },
        { type: 'action.result', callId: '1', status: 'failed' },
      ],
    ],
  ])('a refusal has one form, reported %s', (_, events) => {
    const called: StreamEvent = {
      type: 'action.called',
      callId: '1',
      name: 'Bash',
      input: { command: 'ls' },
    };
    expect(deriveAgentMetadata([called, ...events])).toMatchObject({
      tools: [{ callId: '1', status: 'rejected' }],
      commands: [{ callId: '1', status: 'rejected' }],
      approvals: [{ callId: '1', decision: 'denied' }],
    });
  });

  test('two questions about one call have a decision each, also when both are open at once', () => {
    const asked: StreamEvent = { type: 'approval.requested', callId: '1' };
    const decided = (decision: 'approved' | 'denied', rule: string): StreamEvent => ({
      ...{ type: 'approval.decided', callId: '1', by: 'policy' },
      ...{ decision, rule },
    });
    const [first, second] = [decided('approved', 'a'), decided('denied', 'b')];
    const approvals = [
      { callId: '1', decision: 'approved', by: 'policy', rule: 'a' },
      { callId: '1', decision: 'denied', by: 'policy', rule: 'b' },
    ];
    for (const events of [
      [asked, first, asked, second],
      [asked, asked, first, second],
    ]) {
      expect(deriveAgentMetadata(events)).toMatchObject({ approvals });
    }
  });

  test('the host knows better than the agent how a file changed', () => {
    const changed = (path: string, change: 'added' | 'modified' | 'deleted', host = false): StreamEvent => ({
      ...{ type: 'file.changed', path, change },
      ...(host && { source: 'host' }),
    });
    const { fileChanges } = deriveAgentMetadata([
      ...[changed('new', 'modified'), changed('new', 'modified'), changed('temporary', 'added')],
      ...[
        changed('old-name', 'deleted'),
        changed('new', 'added', true),
        changed('by-command', 'deleted', true),
      ],
      { type: 'file.changed', path: 'new-name', change: 'renamed', from: 'old-name', source: 'host' },
    ]);
    expect(fileChanges).toEqual([
      { path: 'temporary', change: 'added' },
      { path: 'new', change: 'added' },
      { path: 'by-command', change: 'deleted' },
      { path: 'new-name', change: 'renamed', from: 'old-name' },
    ]);
  });

  test('the command of a list is that of the model, without the shell around it', () => {
    const called = (command: string[]): StreamEvent => ({
      ...{ type: 'action.called', callId: command.join(' '), name: 'shell', input: { command } },
    });
    const { commands } = deriveAgentMetadata([called(['bash', '-lc', 'ls | wc']), called(['git', 'log'])]);
    expect(commands.map(({ command }) => command)).toEqual(['ls | wc', 'git log']);
  });

  test('ignores a result without a call', () => {
    expect(deriveAgentMetadata([{ type: 'action.result', callId: 'x', status: 'failed' }]).tools).toEqual([]);
  });
});
