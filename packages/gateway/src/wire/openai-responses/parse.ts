import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { buildConversation, type ConversationBuilder } from '../conversation.ts';
import {
  contentText,
  contentTexts,
  isSystem,
  joinText,
  objectAt,
  objectsAt,
  parseArguments,
  parseJsonObject,
  responseSchema,
  stringAt,
  systemContents,
  textAt,
} from '../json-reading.ts';
import type { NeutralRequest, NeutralToolCall, OfferedTool, RequestPrompt } from '../neutral.ts';

/**
 * Reads a body of `POST /v1/responses` (OpenAI Responses API). Skips items of an unknown type.
 * @throws RequestError 400 when the body is not a JSON object.
 */
export function parseResponsesRequest(body: Uint8Array): NeutralRequest {
  const raw = parseJsonObject(body);
  const { systemPrompt, tools } = responsesPrompt(raw);
  const conversation = buildConversation();
  if (typeof raw.input === 'string') conversation.user(raw.input);
  for (const item of objectsAt(raw, 'input')) if (!isSystem(item)) readItem(item, conversation);

  return {
    wire: 'openai-responses',
    model: stringAt(raw, 'model'),
    stream: raw.stream === true,
    instructions: joinText(...systemPrompt),
    messages: conversation.messages,
    tools: tools.flatMap((tool) => offeredTools(tool)),
    ...responseSchema(objectAt(objectAt(raw, 'text'), 'format').schema),
    raw,
  };
}

/** Codex puts its base prompt into developer messages, and for some models its tools into the first item. */
export function responsesPrompt(raw: JsonObject): RequestPrompt {
  const added = objectsAt(raw, 'input').filter((item) => stringAt(item, 'type') === 'additional_tools');
  return {
    systemPrompt: [raw.instructions, ...systemContents(raw, 'input')].flatMap(contentTexts),
    tools: [raw, ...added].flatMap((holder) => objectsAt(holder, 'tools')),
  };
}

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

const named = (item: JsonObject): { name: string; namespace?: string } => ({
  name: stringAt(item, 'name'),
  ...present({ namespace: textAt(item, 'namespace') }),
});

function offeredTools(tool: JsonObject, namespace?: string): OfferedTool[] {
  const type = stringAt(tool, 'type');
  if (type === 'namespace') {
    return objectsAt(tool, 'tools').flatMap((inner) => offeredTools(inner, stringAt(tool, 'name')));
  }
  const shared = {
    name: stringAt(tool, 'name') || type,
    ...present({ description: textAt(tool, 'description'), namespace }),
  };
  if (type === 'function') return [{ ...shared, kind: 'function', parameters: objectAt(tool, 'parameters') }];
  return [{ ...shared, kind: type === 'custom' ? 'custom' : 'hosted' }];
}
