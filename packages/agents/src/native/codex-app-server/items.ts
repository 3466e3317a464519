import type { JsonObject, JsonValue } from '@whetstone/events';
import { objectIn, objectsIn } from '../../kit/fields.ts';
import type { ThreadItemType } from './protocol-methods.ts';

/**
 * What becomes of each item. `call`: a call with its result. `text`: a message, thinking or a plan. `state`: an event of
 * its own, or nothing new. `raw`: kept as it is, because no event carries what it says.
 */
export const ITEMS: Readonly<Record<ThreadItemType, 'call' | 'text' | 'state' | 'raw'>> = {
  commandExecution: 'call',
  fileChange: 'call',
  mcpToolCall: 'call',
  dynamicToolCall: 'call',
  collabAgentToolCall: 'call',
  webSearch: 'call',
  imageView: 'call',
  imageGeneration: 'call',
  sleep: 'call',
  userMessage: 'text',
  agentMessage: 'text',
  reasoning: 'text',
  plan: 'text',
  subAgentActivity: 'state',
  enteredReviewMode: 'state',
  exitedReviewMode: 'state',
  contextCompaction: 'state',
  hookPrompt: 'raw',
  functionCallOutput: 'raw',
};

export const isCallType = (type: JsonValue | undefined): boolean => itemUse(type) === 'call';

export const itemUse = (type: JsonValue | undefined) =>
  typeof type === 'string' && Object.hasOwn(ITEMS, type) ? ITEMS[type as ThreadItemType] : undefined;

/** The names that `codex exec` has for the same tools, of which the protocol spells some differently. */
const TYPES: Readonly<Record<string, string>> = {
  commandExecution: 'command_execution',
  fileChange: 'file_change',
  mcpToolCall: 'mcp_tool_call',
  dynamicToolCall: 'dynamic_tool_call',
  collabAgentToolCall: 'collab_tool_call',
  webSearch: 'web_search',
  imageView: 'view_image',
  imageGeneration: 'image_generation',
};

/** A call of the protocol in the shape that `codex exec` prints, so that one reader reads both. */
export function execItem(item: JsonObject): JsonObject {
  const { type, startedAtMs: _, completedAtMs: __, durationMs: ___, ...fields } = item;
  const named: JsonObject = { ...fields, type: TYPES[String(type)] ?? type ?? null };
  switch (type) {
    case 'commandExecution':
      return { ...named, aggregated_output: item.aggregatedOutput ?? null, exit_code: item.exitCode ?? null };
    case 'fileChange':
      return {
        ...named,
        changes: objectsIn(item.changes).map(({ path, kind }) => ({
          path: path ?? null,
          kind: objectIn(kind)?.type ?? kind ?? null,
        })),
      };
    case 'collabAgentToolCall':
      return {
        ...named,
        tool: snake(item.tool),
        receiver_thread_ids: item.receiverThreadIds ?? [],
        agents_states: statesOf(item.agentsStates),
      };
    default:
      return named;
  }
}

/** `pendingInit` is `pending_init` in the output of `codex exec`. */
const statesOf = (states: JsonValue | undefined): JsonObject =>
  Object.fromEntries(
    Object.entries(objectIn(states) ?? {}).map(([thread, state]) => {
      const { status, ...others } = objectIn(state) ?? {};
      return [thread, { ...others, status: snake(status) }];
    }),
  );

const snake = (value: JsonValue | undefined): JsonValue =>
  typeof value === 'string'
    ? value.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : (value ?? null);
