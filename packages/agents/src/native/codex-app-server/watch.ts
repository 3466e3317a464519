import type { JsonObject } from '@whetstone/events';
import { objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import { isCallType } from './items.ts';

/** What a turn's notifications say that its dialogue has to know. */
export type Watch = {
  notice(method: string, params: JsonObject): void;
  /** Resolves when the turn has ended; it may have, before its start was answered. */
  completed(threadId: string, turnId: string): Promise<void>;
  /** The paths of a patch that Codex is about to ask about. */
  pathsOf(itemId: string): readonly string[];
  /** The call of an MCP tool that is open; Codex asks about it without naming it. */
  callOf(server: string, tool: string): string | undefined;
  /** Calls `then` with the turn's id once so many tool calls of the thread have ended. */
  afterCalls(threadId: string, calls: number, then: (turnId: string) => void): void;
};

export function createWatch(): Watch {
  const ended = new Map<string, PromiseWithResolvers<void>>();
  const paths = new Map<string, string[]>();
  /** The MCP calls that are open: call → server and tool. */
  const mcp = new Map<string, string>();
  const calls = new Map<string, number>();
  const steps: { threadId: string; calls: number; then: (turnId: string) => void }[] = [];

  const endOf = (threadId: string, turnId: string): PromiseWithResolvers<void> => {
    const key = `${threadId} ${turnId}`;
    const end = ended.get(key) ?? Promise.withResolvers<void>();
    ended.set(key, end);
    return end;
  };

  return {
    notice(method, params) {
      const threadId = textIn(params.threadId) ?? '';
      if (method === 'turn/completed') endOf(threadId, textIn(objectIn(params.turn)?.id) ?? '').resolve();
      const item = objectIn(params.item);
      if (!item) return;
      const itemId = textIn(item.id) ?? '';
      if (method === 'item/started' && item.type === 'fileChange') {
        const changed = objectsIn(item.changes).flatMap(({ path, kind }) => [
          path,
          objectIn(kind)?.move_path,
        ]);
        paths.set(
          itemId,
          changed.filter((path) => typeof path === 'string'),
        );
      }
      if (method === 'item/started' && item.type === 'mcpToolCall')
        mcp.set(itemId, `${item.server}/${item.tool}`);
      if (method !== 'item/completed') return;
      paths.delete(itemId);
      mcp.delete(itemId);
      if (!isCallType(item.type)) return;
      const count = (calls.get(threadId) ?? 0) + 1;
      calls.set(threadId, count);
      for (const step of steps) {
        if (step.threadId === threadId && step.calls === count) step.then(textIn(params.turnId) ?? '');
      }
    },
    completed: (threadId, turnId) => endOf(threadId, turnId).promise,
    pathsOf: (itemId) => paths.get(itemId) ?? [],
    callOf: (server, tool) => [...mcp].findLast(([, called]) => called === `${server}/${tool}`)?.[0],
    afterCalls: (threadId, count, then) => void steps.push({ threadId, calls: count, then }),
  };
}
