import type { JsonObject, JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, requiredText, textIn, tokensIn } from '../../kit/fields.ts';
import { changeNamed, fileChanged } from '../../kit/mapped-events.ts';
import { shellCommand } from './shell-command.ts';

const BUCKETS = [
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_input_tokens',
  'reasoning_output_tokens',
] as const;

/** Usage as Codex counts it: cached tokens are input tokens too. */
export type CodexUsage = Record<(typeof BUCKETS)[number], number>;

const byBucket = (count: (bucket: keyof CodexUsage) => number): CodexUsage =>
  Object.fromEntries(BUCKETS.map((bucket) => [bucket, count(bucket)])) as CodexUsage;

/** `undefined` if the input or the output tokens are missing. */
export function codexUsage(value: JsonValue | undefined): CodexUsage | undefined {
  const { input_tokens: input, output_tokens: output, ...others } = objectIn(value) ?? {};
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  const counts: JsonObject = { input_tokens: input, output_tokens: output, ...others };
  return byBucket((bucket) => tokensIn(counts[bucket]));
}

/** The usage since `before`. Codex reports the usage of the whole thread at the end of each turn. */
export const usageSince = (before: CodexUsage | undefined, now: CodexUsage): CodexUsage =>
  before ? byBucket((bucket) => Math.max(0, now[bucket] - before[bucket])) : now;

/** Puts each token into one bucket. */
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

/** The tool name of an item in our events; `undefined` for an item that is not a tool call. */
export function toolNameOf({ type, server, tool }: JsonObject): string | undefined {
  switch (type) {
    case 'mcp_tool_call':
      return `mcp__${requiredText(server)}__${requiredText(tool)}`;
    case 'collab_tool_call':
      return textIn(tool) ?? type;
    case 'file_change':
      return 'apply_patch';
    case 'dynamic_tool_call':
      return requiredText(tool);
    case 'command_execution':
    case 'web_search':
    case 'view_image':
    case 'image_generation':
    case 'sleep':
      return type;
    default:
      return undefined;
  }
}

/** The call of a tool item. Its input is the item without the fields of the result. */
export function calledEvent(item: JsonObject, callId: string, name: string): StreamEvent {
  if (item.type === 'command_execution') {
    return { type: 'action.called', callId, name, input: { command: shellCommand(item.command) } };
  }
  const { id, type, status, result, error, agents_states, contentItems, success, ...input } = item;
  return { type: 'action.called', callId, name, input: objectIn(input.arguments) ?? input };
}

export function resultEvent(item: JsonObject, callId: string): StreamEvent {
  const status = statusOf(item.status);
  if (item.type === 'command_execution') {
    const exitCode = typeof item.exit_code === 'number' ? item.exit_code : undefined;
    const output = { output: textIn(item.aggregated_output) ?? '', ...present({ exitCode }) };
    return { type: 'action.result', callId, status, output };
  }
  const output = item.result ?? item.error ?? item.agents_states ?? item.contentItems;
  return { type: 'action.result', callId, status, ...(output != null && { output }) };
}

export function statusOf(status: JsonValue | undefined): 'completed' | 'failed' | 'rejected' {
  if (status === 'declined') return 'rejected';
  return status === 'failed' ? 'failed' : 'completed';
}

export const fileEvents = ({ changes }: JsonObject, workdir: string | undefined): StreamEvent[] =>
  objectsIn(changes).map(({ path, kind }) => fileChanged(requiredText(path), workdir, changeNamed(kind)));
