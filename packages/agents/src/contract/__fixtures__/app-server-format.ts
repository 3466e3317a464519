import type { Format } from './formats.ts';

let items = 0;
const nextId = (): string => `call_${(items += 1)}`;
const turnId = 'turn-1';

/** The tokens of the thread after some turns. */
export const appServerUsage = (threadId: string, turns: number): object => {
  const total = { totalTokens: turns * 15, inputTokens: turns * 10, cachedInputTokens: 0, outputTokens: turns * 5 };
  return { method: 'thread/tokenUsage/updated', params: { threadId, turnId, tokenUsage: { total, last: total } } };
};

const notified = (method: string, threadId: string, params: object): object => ({
  method,
  params: { threadId, turnId, ...params },
});
const said = (threadId: string, text: string): object =>
  notified('item/completed', threadId, { item: { type: 'agentMessage', id: nextId(), text, phase: null } });
const ended = (threadId: string, status: string, error: object | null): object =>
  notified('turn/completed', threadId, { turn: { id: turnId, status, error, items: [] } });

/** What `codex app-server` prints in a turn. */
export const codexAppServer: Format = {
  begin: (threadId) => [notified('turn/started', threadId, { turn: { id: turnId, status: 'inProgress' } })],
  work(threadId, text, command, output) {
    const item = { type: 'commandExecution', id: nextId(), command, cwd: process.cwd(), commandActions: [] };
    return [
      said(threadId, text),
      notified('item/started', threadId, { item: { ...item, status: 'inProgress', aggregatedOutput: null } }),
      notified('item/completed', threadId, {
        item: { ...item, status: 'completed', aggregatedOutput: output, exitCode: 0 },
      }),
    ];
  },
  done: (threadId, text, turns) => [
    said(threadId, text),
    appServerUsage(threadId, turns),
    ended(threadId, 'completed', null),
  ],
  failed: (threadId, message) => [
    notified('error', threadId, { error: { message, codexErrorInfo: 'other', additionalDetails: null }, willRetry: false }),
    ended(threadId, 'failed', { message, codexErrorInfo: 'other', additionalDetails: null }),
  ],
  answer: (threadId, data, turns) => codexAppServer.done(threadId, JSON.stringify(data), turns),
};
