import type { JsonObject, JsonValue } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { buildConversation, type ConversationBuilder } from '../conversation.ts';
import {
  contentText,
  contentTexts,
  isSystem,
  joinText,
  objectAt,
  objectsAt,
  objectsIn,
  parseJsonObject,
  responseSchema,
  stringAt,
  systemContents,
  textAt,
} from '../json-reading.ts';
import type { NeutralRequest, OfferedTool, RequestPrompt } from '../neutral.ts';

/**
 * Reads a body of `POST /v1/messages` (Anthropic Messages API), or of `count_tokens`, which has some of its fields.
 * Skips blocks of an unknown type.
 * @throws RequestError 400 when the body is not a JSON object.
 */
export function parseMessagesRequest(body: Uint8Array): NeutralRequest {
  const raw = parseJsonObject(body);
  const { systemPrompt, tools } = messagesPrompt(raw);
  const conversation = buildConversation();
  for (const message of objectsAt(raw, 'messages')) {
    if (isSystem(message)) continue;
    if (stringAt(message, 'role') === 'assistant') readAssistant(message.content, conversation);
    else readUser(message.content, conversation);
  }

  return {
    wire: 'anthropic-messages',
    model: stringAt(raw, 'model'),
    stream: raw.stream === true,
    instructions: joinText(...systemPrompt),
    messages: conversation.messages,
    tools: tools.map(offeredTool),
    ...responseSchema(outputFormat(raw).schema),
    raw,
  };
}

/** Claude Code sends part of its prompt as messages with the role `system`. */
export const messagesPrompt = (raw: JsonObject): RequestPrompt => ({
  systemPrompt: [raw.system, ...systemContents(raw, 'messages')].flatMap(contentTexts),
  tools: objectsAt(raw, 'tools'),
});

/** Structured output is in `output_config.format`, and was in `output_format` during its beta. */
const outputFormat = (raw: JsonObject): JsonObject => ({
  ...objectAt(raw, 'output_format'),
  ...objectAt(objectAt(raw, 'output_config'), 'format'),
});

function readAssistant(content: JsonValue | undefined, conversation: ConversationBuilder): void {
  for (const block of blocks(content)) {
    switch (stringAt(block, 'type')) {
      case 'text':
        conversation.assistant({ text: stringAt(block, 'text') });
        break;
      case 'thinking':
        conversation.assistant({ thinking: stringAt(block, 'thinking') });
        break;
      case 'tool_use':
        conversation.assistant({
          toolCall: {
            kind: 'function',
            id: stringAt(block, 'id'),
            name: stringAt(block, 'name'),
            input: objectAt(block, 'input'),
          },
        });
        break;
    }
  }
}

/** Here, results of tools are in user messages. Text beside them (reminders, steering) becomes a separate message. */
function readUser(content: JsonValue | undefined, conversation: ConversationBuilder): void {
  const texts: string[] = [];
  let hasResults = false;
  for (const block of blocks(content)) {
    if (stringAt(block, 'type') === 'tool_result') {
      hasResults = true;
      conversation.toolResult(stringAt(block, 'tool_use_id'), contentText(block.content));
    } else {
      texts.push(stringAt(block, 'text'));
    }
  }
  const text = joinText(...texts);
  if (text !== '' || !hasResults) conversation.user(text);
}

const blocks = (content: JsonValue | undefined): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content);

/** Tools that Anthropic defines and the agent runs. All other typed tools run at the provider. */
const agentSideTypes = /^(bash|text_editor|computer|memory)_/;

function offeredTool(tool: JsonObject): OfferedTool {
  const shared = { name: stringAt(tool, 'name'), ...present({ description: textAt(tool, 'description') }) };
  const type = stringAt(tool, 'type');
  if (type === '' || type === 'custom') {
    return { ...shared, kind: 'function', parameters: objectAt(tool, 'input_schema') };
  }
  return { ...shared, kind: agentSideTypes.test(type) ? 'function' : 'hosted' };
}
