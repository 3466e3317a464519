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
 * Reads a body of `POST /v1/chat/completions` (OpenAI Chat Completions API). Messages with an unknown role are read as
 * user messages.
 * @throws RequestError 400 when the body is not a JSON object.
 */
export function parseChatRequest(body: Uint8Array): NeutralRequest {
  const raw = parseJsonObject(body);
  const { systemPrompt, tools } = chatPrompt(raw);
  const conversation = buildConversation();
  for (const message of objectsAt(raw, 'messages')) {
    if (isSystem(message)) continue;
    const role = stringAt(message, 'role');
    const text = contentText(message.content);
    if (role === 'assistant') readAssistant(message, conversation);
    else if (role === 'tool') conversation.toolResult(stringAt(message, 'tool_call_id'), text);
    else conversation.user(text);
  }

  return {
    wire: 'openai-chat-completions',
    model: stringAt(raw, 'model'),
    stream: raw.stream === true,
    instructions: joinText(...systemPrompt),
    messages: conversation.messages,
    tools: tools.map(offeredTool),
    ...responseSchema(objectAt(objectAt(raw, 'response_format'), 'json_schema').schema),
    raw,
  };
}

export const chatPrompt = (raw: JsonObject): RequestPrompt => ({
  systemPrompt: systemContents(raw, 'messages').flatMap(contentTexts),
  tools: objectsAt(raw, 'tools'),
});

function readAssistant(message: JsonObject, conversation: ConversationBuilder): void {
  // OpenAI's own models do not reveal their reasoning; other models' reasoning is under one of these two names.
  const thinking = stringAt(message, 'reasoning_content') || stringAt(message, 'reasoning');
  conversation.assistant({ text: contentText(message.content), thinking });
  for (const call of objectsAt(message, 'tool_calls')) conversation.assistant({ toolCall: toolCall(call) });
}

function toolCall(call: JsonObject): NeutralToolCall {
  const id = stringAt(call, 'id');
  if (stringAt(call, 'type') === 'custom') {
    const custom = objectAt(call, 'custom');
    return { kind: 'custom', id, name: stringAt(custom, 'name'), input: stringAt(custom, 'input') };
  }
  const called = objectAt(call, 'function');
  return { kind: 'function', id, name: stringAt(called, 'name'), input: parseArguments(called.arguments) };
}

function offeredTool(tool: JsonObject): OfferedTool {
  const type = stringAt(tool, 'type');
  const definition = objectAt(tool, type);
  const shared = {
    name: stringAt(definition, 'name') || type,
    ...present({ description: textAt(definition, 'description') }),
  };
  if (type === 'function') {
    return { ...shared, kind: 'function', parameters: objectAt(definition, 'parameters') };
  }
  return { ...shared, kind: type === 'custom' ? 'custom' : 'hosted' };
}
