import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { buildConversation, type ConversationBuilder } from '../conversation.ts';
import {
  contentText,
  joinText,
  objectAt,
  objectsAt,
  parseArguments,
  parseJsonObject,
  responseSchema,
  stringAt,
} from '../json-reading.ts';
import type { NeutralRequest, NeutralToolCall, OfferedTool } from '../neutral.ts';

/**
 * Reads a body of `POST /v1/responses` (OpenAI Responses API). Skips items of an unknown type.
 * @throws RequestError 400 when the body is not a JSON object.
 */
export function parseResponsesRequest(body: Uint8Array): NeutralRequest {
  const raw = parseJsonObject(body);
  const conversation = buildConversation();
  const instructions = [stringAt(raw, 'instructions')];
  const tools = objectsAt(raw, 'tools').flatMap((tool) => offeredTools(tool));

  if (typeof raw.input === 'string') conversation.user(raw.input);
  for (const item of objectsAt(raw, 'input')) {
    if (stringAt(item, 'type') === 'additional_tools') {
      tools.push(...objectsAt(item, 'tools').flatMap((tool) => offeredTools(tool)));
    } else if (isInstruction(item)) {
      instructions.push(contentText(item.content));
    } else {
      readItem(item, conversation);
    }
  }

  return {
    wire: 'openai-responses',
    model: stringAt(raw, 'model'),
    stream: raw.stream === true,
    instructions: joinText(...instructions),
    messages: conversation.messages,
    tools,
    ...responseSchema(objectAt(objectAt(raw, 'text'), 'format').schema),
    raw,
  };
}

/** Codex puts its base prompt into developer messages, not into `instructions`. */
const isInstruction = (item: JsonObject): boolean =>
  stringAt(item, 'role') === 'developer' || stringAt(item, 'role') === 'system';

function readItem(item: JsonObject, conversation: ConversationBuilder): void {
  // A message may have no type ("easy input message").
  const type = stringAt(item, 'type') || 'message';
  const callId = stringAt(item, 'call_id');
  switch (type) {
    case 'message':
      if (stringAt(item, 'role') === 'assistant') conversation.assistant({ text: contentText(item.content) });
      else conversation.user(contentText(item.content));
      break;
    case 'reasoning':
      conversation.assistant({ thinking: contentText(item.summary) });
      break;
    case 'function_call':
      conversation.assistant({ toolCall: functionCall(item, callId, parseArguments(item.arguments)) });
      break;
    case 'local_shell_call':
      conversation.assistant({
        toolCall: functionCall({ name: 'local_shell' }, callId, objectAt(item, 'action')),
      });
      break;
    case 'custom_tool_call':
      conversation.assistant({
        toolCall: { kind: 'custom', id: callId, ...named(item), input: stringAt(item, 'input') },
      });
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      conversation.toolResult(callId, contentText(item.output));
      break;
    case 'item_reference':
      readReference(stringAt(item, 'id'), conversation);
      break;
  }
}

/**
 * A client that relies on the server to keep its items (`store`) only sends back ids. The ids are the encoder's, so
 * their prefix says what kind of item it was, which is enough to count replies.
 */
function readReference(id: string, conversation: ConversationBuilder): void {
  if (id.startsWith('fc_') || id.startsWith('ctc_')) {
    conversation.assistant({ toolCall: functionCall({}, id, {}) });
  } else if (id.startsWith('msg_') || id.startsWith('rs_')) {
    conversation.assistant({});
  }
}

const functionCall = (item: JsonObject, id: string, input: JsonObject): NeutralToolCall => ({
  kind: 'function',
  id,
  ...named(item),
  input,
});

function named(item: JsonObject): { name: string; namespace?: string } {
  const namespace = stringAt(item, 'namespace');
  return { name: stringAt(item, 'name'), ...(namespace === '' ? {} : { namespace }) };
}

function offeredTools(tool: JsonObject, namespace?: string): OfferedTool[] {
  const type = stringAt(tool, 'type');
  if (type === 'namespace') {
    return objectsAt(tool, 'tools').flatMap((inner) => offeredTools(inner, stringAt(tool, 'name')));
  }
  const description = stringAt(tool, 'description');
  const shared = {
    name: stringAt(tool, 'name') || type,
    ...(description === '' ? {} : { description }),
    ...present({ namespace }),
  };
  if (type === 'function') return [{ ...shared, kind: 'function', parameters: objectAt(tool, 'parameters') }];
  return [{ ...shared, kind: type === 'custom' ? 'custom' : 'hosted' }];
}
