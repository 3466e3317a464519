import type { JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { z } from 'zod';
import { objectIn } from '../../kit/fields.ts';
import { changeNamed, fileChanged } from '../../kit/mapped-events.ts';

/** The events of `codex exec --json` that have a mapping. Any other event becomes a `raw` event. */
const count = z.number().int().nonnegative().catch(0);
const usageSchema = z.object({
  input_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  cached_input_tokens: count,
  cache_write_input_tokens: count,
  reasoning_output_tokens: count,
});
const text = z.string();
const itemSchema = z.discriminatedUnion('type', [
  z.object({ id: text, type: z.literal('agent_message'), text }),
  z.object({ id: text, type: z.literal('reasoning'), text }),
  z.object({ id: text, type: z.literal('error'), message: text }),
  z.object({
    id: text,
    type: z.literal('command_execution'),
    command: text,
    aggregated_output: text.catch(''),
    exit_code: z.number().int().nullish(),
    status: text.catch('completed'),
  }),
  z.object({
    id: text,
    type: z.literal('mcp_tool_call'),
    server: text,
    tool: text,
    status: text.catch('completed'),
  }),
  z.object({
    id: text,
    type: z.literal('collab_tool_call'),
    tool: text.catch('collab_tool_call'),
    receiver_thread_ids: z.array(text).catch([]),
    status: text.catch('completed'),
  }),
  z.object({ id: text, type: z.literal('web_search'), query: text.catch('') }),
  z.object({
    id: text,
    type: z.literal('file_change'),
    changes: z.array(z.object({ path: text, kind: text })),
    status: text.catch('completed'),
  }),
  z.object({
    id: text,
    type: z.literal('todo_list'),
    items: z.array(z.object({ text, completed: z.boolean().catch(false) })),
  }),
]);
const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: text }),
  z.object({ type: z.literal('turn.started') }),
  z.object({ type: z.literal('turn.completed'), usage: usageSchema.optional().catch(undefined) }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: text }) }),
  z.object({ type: z.literal('error'), message: text }),
  z.object({ type: z.enum(['item.started', 'item.updated', 'item.completed']), item: itemSchema }),
]);

export type CodexUsage = z.infer<typeof usageSchema>;
export type CodexItem = z.infer<typeof itemSchema>;
export type CodexLine = z.infer<typeof lineSchema>;

/** One line of the stream; `undefined` when this version has no mapping for it. */
export const parseCodexLine = (native: JsonObject): CodexLine | undefined =>
  lineSchema.safeParse(native).data;

/** Codex counts cached tokens as input too; here each token is in one bucket. */
export function toUsage(usage: CodexUsage): Usage {
  const { input_tokens, cached_input_tokens, cache_write_input_tokens } = usage;
  return {
    inputTokens: Math.max(0, input_tokens - cached_input_tokens - cache_write_input_tokens),
    outputTokens: usage.output_tokens,
    cacheReadTokens: cached_input_tokens,
    cacheWriteTokens: cache_write_input_tokens,
    reasoningTokens: usage.reasoning_output_tokens,
  };
}

/** The usage since `before`. Codex reports the usage of the whole thread at the end of each turn. */
export function usageSince(before: CodexUsage | undefined, now: CodexUsage): CodexUsage {
  if (!before) return now;
  const since = (bucket: keyof CodexUsage): number => Math.max(0, now[bucket] - before[bucket]);
  return {
    input_tokens: since('input_tokens'),
    output_tokens: since('output_tokens'),
    cached_input_tokens: since('cached_input_tokens'),
    cache_write_input_tokens: since('cache_write_input_tokens'),
    reasoning_output_tokens: since('reasoning_output_tokens'),
  };
}

/** The tool name of an item in our events; `undefined` for an item that is not a tool call. */
export function toolNameOf(item: CodexItem): string | undefined {
  switch (item.type) {
    case 'mcp_tool_call':
      return `mcp__${item.server}__${item.tool}`;
    case 'collab_tool_call':
      return item.tool;
    case 'command_execution':
    case 'web_search':
      return item.type;
    default:
      return undefined;
  }
}

/** The call of a tool item. Its input is the native item without the fields of the result. */
export function calledEvent(item: CodexItem, name: string, native: JsonValue | undefined): StreamEvent {
  if (item.type === 'command_execution') {
    return { type: 'action.called', callId: item.id, name, input: { command: item.command } };
  }
  const { id, type, status, result, error, agents_states, ...input } = objectIn(native) ?? {};
  return { type: 'action.called', callId: item.id, name, input: objectIn(input.arguments) ?? input };
}

export function resultEvent(item: CodexItem, native: JsonValue | undefined): StreamEvent {
  const { status: ending } = { status: 'completed', ...item };
  const status = ending === 'declined' ? 'rejected' : ending === 'failed' ? 'failed' : 'completed';
  if (item.type === 'command_execution') {
    const exitCode = item.exit_code != null && { exitCode: item.exit_code };
    const output = { output: item.aggregated_output, ...exitCode };
    return { type: 'action.result', callId: item.id, status, output };
  }
  const { result, error, agents_states } = objectIn(native) ?? {};
  const output = result ?? error ?? agents_states;
  return { type: 'action.result', callId: item.id, status, ...(output != null && { output }) };
}

export const fileEvents = (
  { changes }: CodexItem & { type: 'file_change' },
  workdir: string | undefined,
): StreamEvent[] => changes.map(({ path, kind }) => fileChanged(path, workdir, changeNamed(kind)));
