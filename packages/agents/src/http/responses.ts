import { isJsonObject, type JsonObject, type JsonValue, type StreamEvent } from '@whetstone/events';
import type { Turn } from '../agent.ts';
import { thinkingEvents } from '../kit/mapped-events.ts';
import { errorMessage, type HttpAnswer } from './answer-frames.ts';
import { countAt, objectAt, objectsAt, parsedArguments, textAt } from './json-reading.ts';
import { type AnswerStream, draftTurn, type TurnDraft } from './turn-draft.ts';

/**
 * Makes a turn from an answer in the OpenAI Responses format, whole or streamed: messages, reasoning, calls of functions
 * and of the provider's own tools with their results, and usage. A request for approval (`mcp_approval_request`) makes the
 * turn `waiting`. An answer that is incomplete, failed or cut off is a failed turn. Never rejects; what has no mapping
 * becomes a `raw` event.
 *
 * Written by hand because the AI SDK's provider for this format rejects an answer or an event as a whole when one field
 * is not as OpenAI has it, so that a compatible server's tool calls and a failed answer's reason are lost.
 */
export async function fromResponses(answer: HttpAnswer): Promise<Turn> {
  const draft = await draftTurn(answer, addResponse, () => new ResponseStream());
  return draft.finish({ isWaiting: draft.events.some(({ type }) => type === 'input.requested') });
}

function addResponse(draft: TurnDraft, response: JsonValue): void {
  const object = isJsonObject(response) ? response : {};
  for (const event of objectsAt(object, 'output').flatMap(itemEvents)) draft.add(event);
  draft.addUsage(object, { input: 'input_tokens', output: 'output_tokens' });
  const failure = failureOf(object);
  if (failure !== undefined) draft.fail(failure);
  else if (!Array.isArray(object.output)) {
    draft.addRaw(response);
    draft.fail('The answer is not a response.');
  }
}

function failureOf(response: JsonObject): string | undefined {
  if (response.error != null) return errorMessage(response) ?? 'The answer is an error.';
  const status = textAt(response, 'status');
  if (status === 'incomplete') {
    const reason = textAt(objectAt(response, 'incomplete_details'), 'reason');
    return `The answer was cut off${reason === undefined ? '' : `: ${reason}`}.`;
  }
  return status === 'failed' || status === 'cancelled' ? `The answer was ${status}.` : undefined;
}

/** Adds the events of one item of the output. `index` replaces a missing id. */
function itemEvents(item: JsonObject, index: number): StreamEvent[] {
  const callId = textAt(item, 'call_id') ?? textAt(item, 'id') ?? `call-${index}`;
  const called = (name: string, input: JsonValue = {}): StreamEvent => ({
    ...{ type: 'action.called', callId, name, input },
  });
  switch (item.type) {
    case 'message':
      return messageEvents(item);
    case 'reasoning':
      return reasoningEvents(item);
    case 'function_call':
    case 'custom_tool_call':
      return [called(textAt(item, 'name') ?? 'unknown', parsedArguments(item.arguments ?? item.input))];
    case 'local_shell_call':
    case 'shell_call':
      return [called('local_shell', item.action)];
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'shell_call_output':
      return [resultEvent(callId, 'completed', item.output)];
    case 'web_search_call':
      return [called('web_search', item.action), ...outcomeEvents(callId, item)];
    case 'file_search_call':
      return [
        called('file_search', { queries: item.queries ?? [] }),
        ...outcomeEvents(callId, item, item.results),
      ];
    case 'code_interpreter_call':
      return [
        called('code_interpreter', { code: item.code ?? null }),
        ...outcomeEvents(callId, item, item.outputs),
      ];
    case 'mcp_call':
      return [called(mcpName(item), parsedArguments(item.arguments)), ...mcpResultEvents(callId, item)];
    case 'mcp_approval_request':
      return approvalEvents(callId, item);
    default:
      return [{ type: 'raw', native: item }];
  }
}

function messageEvents(item: JsonObject): StreamEvent[] {
  const text = objectsAt(item, 'content')
    .map((part) => textAt(part, 'text') ?? textAt(part, 'refusal') ?? '')
    .join('');
  if (text === '') return [{ type: 'raw', native: item }];
  return [{ type: 'message', role: item.role === 'user' ? 'user' : 'assistant', text }];
}

/** Encrypted reasoning cannot be read, and is not kept. */
function reasoningEvents(item: JsonObject): StreamEvent[] {
  const parts = [...objectsAt(item, 'summary'), ...objectsAt(item, 'content')];
  return thinkingEvents(parts.flatMap((part) => textAt(part, 'text') ?? []).join('\n\n'));
}

const resultEvent = (callId: string, status: 'completed' | 'failed', output?: JsonValue): StreamEvent => ({
  type: 'action.result',
  callId,
  status,
  ...(output != null && { output }),
});

/** The result of a tool that the provider ran itself, once the item says how the call ended. */
function outcomeEvents(callId: string, { status }: JsonObject, output?: JsonValue): StreamEvent[] {
  return status === 'completed' || status === 'failed' ? [resultEvent(callId, status, output)] : [];
}

function mcpName(item: JsonObject): string {
  const name = textAt(item, 'name') ?? 'unknown';
  const server = textAt(item, 'server_label');
  return server === undefined ? name : `mcp__${server}__${name}`;
}

function mcpResultEvents(callId: string, { output, error }: JsonObject): StreamEvent[] {
  if (error != null) return [resultEvent(callId, 'failed', error)];
  return output == null ? [] : [resultEvent(callId, 'completed', output)];
}

function approvalEvents(callId: string, item: JsonObject): StreamEvent[] {
  const name = mcpName(item);
  const prompt = `May ${name} be called?`;
  return [
    { type: 'approval.requested', callId, name },
    { type: 'input.requested', request: { id: callId, prompt, kind: 'approval', data: item } },
  ];
}

/** Progress events. The finished item repeats all that they say. */
const PROGRESS =
  /^response\.(?:created|queued|in_progress)$|^response\..+\.(?:added|delta|done|in_progress|[a-z]+ing|completed|failed|partial_image)$|^(?:keepalive|ping)$/;

class ResponseStream implements AnswerStream {
  isOver = false;
  readonly #items = new Map<number, JsonObject>();
  #response: JsonObject = {};

  take(event: JsonObject): boolean {
    const index = countAt(event, 'output_index');
    const item = this.#items.get(index ?? -1);
    const delta = textAt(event, 'delta');
    switch (event.type) {
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.isOver = true;
        this.#response = objectAt(event, 'response');
        return true;
      case 'error': {
        this.isOver = true;
        const message = errorMessage(event) ?? 'The stream reported an error.';
        this.#response = { ...this.#response, error: { message } };
        return true;
      }
      case 'response.output_item.added':
      case 'response.output_item.done':
        this.#items.set(index ?? this.#items.size, objectAt(event, 'item'));
        return true;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return appendText(item, delta);
      case 'response.function_call_arguments.delta':
        return appendTo(item, 'arguments', delta);
      case 'response.custom_tool_call_input.delta':
        return appendTo(item, 'input', delta);
      default:
        return typeof event.type === 'string' && PROGRESS.test(event.type);
    }
  }

  answer(): JsonObject {
    // Some servers leave the items out of the last event.
    if (objectsAt(this.#response, 'output').length > 0) return this.#response;
    const items = [...this.#items].sort(([a], [b]) => a - b);
    return { ...this.#response, output: items.map(([, item]) => item) };
  }
}

/** The text of an item so far, for an item that is never finished. */
function appendText(item: JsonObject | undefined, delta = ''): boolean {
  if (!item) return false;
  const [part = { type: 'output_text', text: '' }] = objectsAt(item, 'content');
  appendTo(part, 'text', delta);
  item.content = [part];
  return true;
}

function appendTo(item: JsonObject | undefined, key: string, delta = ''): boolean {
  if (item) item[key] = (textAt(item, key) ?? '') + delta;
  return item !== undefined;
}
