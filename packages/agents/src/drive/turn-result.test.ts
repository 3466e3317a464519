import { expect, test } from 'vitest';
import type { Turn } from '../agent.ts';
import { turnResult } from './turn-result.ts';

const turn: Turn = {
  status: 'completed',
  events: [
    { type: 'session.started', sessionId: 's-1', runtime: 'codex-cli' },
    { type: 'raw', native: { type: 'unknown.item' } },
    { type: 'message', role: 'assistant', text: 'It works.' },
  ],
};

test('a turn has one result, whatever its agent is', () => {
  const usage = { inputTokens: 10, outputTokens: 2 };
  expect(turnResult({ ...turn, usage, costUsd: 0.5, facts: { threadId: 't' } })).toEqual({
    output: 'It works.',
    sessionId: 's-1',
    tokenUsage: usage,
    cost: 0.5,
    metadata: { agent: expect.objectContaining({ runtime: 'codex-cli', threadId: 't', approvals: [] }) },
    raw: [{ type: 'unknown.item' }],
  });
});

test('unknown fields are absent, and a failed turn says why', () => {
  const failed = turnResult({ ...turn, status: 'failed', exit: { ended: 'timeout', message: 'Too late.' } });
  expect(failed).toMatchObject({ error: 'Too late.', output: 'It works.' });
  expect(failed).not.toHaveProperty('cost');
  expect(failed).not.toHaveProperty('tokenUsage');
  expect(turnResult({ ...turn, data: { verdict: 'good' } }).output).toEqual({ verdict: 'good' });
});
