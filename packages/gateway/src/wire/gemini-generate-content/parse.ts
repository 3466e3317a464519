import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { buildConversation, type ConversationBuilder } from '../conversation.ts';
import {
  contentText,
  contentTexts,
  joinText,
  objectAt,
  objectsAt,
  parseJsonObject,
  responseSchema,
  stringAt,
  textAt,
} from '../json-reading.ts';
import type { NeutralRequest, OfferedTool, RequestPrompt, RequestTarget } from '../neutral.ts';

/**
 * Reads a body of `POST …/models/MODEL:generateContent`, `:streamGenerateContent` or `:countTokens` (Gemini API). On
 * this wire, the path has the model and whether to stream.
 * @throws RequestError 400 when the body is not a JSON object.
 */
export function parseGenerateContentRequest(body: Uint8Array, target: RequestTarget = {}): NeutralRequest {
  const raw = parseJsonObject(body);
  // A token count may wrap the request whose tokens it counts.
  const asked = isJsonObject(raw.generateContentRequest) ? raw.generateContentRequest : raw;
  const { systemPrompt, tools } = generateContentPrompt(asked);
  const conversation = buildConversation();
  for (const content of objectsAt(asked, 'contents')) {
    if (stringAt(content, 'role') === 'model') readReply(objectsAt(content, 'parts'), conversation);
    else readUser(objectsAt(content, 'parts'), conversation);
  }
  const config = objectAt(asked, 'generationConfig');

  return {
    wire: 'gemini-generate-content',
    model: target.model ?? '',
    stream: target.stream ?? false,
    instructions: joinText(...systemPrompt),
    messages: conversation.messages,
    tools: tools.flatMap(offeredTools),
    ...responseSchema(config.responseJsonSchema ?? config.responseSchema),
    raw,
  };
}

/** `systemInstruction` is a content. In REST it may also be called `system_instruction`. */
export function generateContentPrompt(request: JsonObject): RequestPrompt {
  const system = request.systemInstruction ?? request.system_instruction;
  return {
    systemPrompt: contentTexts(isJsonObject(system) ? system.parts : system),
    tools: objectsAt(request, 'tools'),
  };
}

function readReply(parts: JsonObject[], conversation: ConversationBuilder): void {
  conversation.assistant({});
  for (const part of parts) {
    const text = stringAt(part, 'text');
    if (isJsonObject(part.functionCall)) {
      const { functionCall } = part;
      const name = stringAt(functionCall, 'name');
      const id = stringAt(functionCall, 'id') || name;
      conversation.assistant({
        toolCall: { kind: 'function', id, name, input: objectAt(functionCall, 'args') },
      });
    } else if (part.thought === true) {
      conversation.assistant({ thinking: text });
    } else {
      conversation.assistant({ text });
    }
  }
}

/** Here, results of tools are in user contents. Text beside them becomes a separate message. */
function readUser(parts: JsonObject[], conversation: ConversationBuilder): void {
  let hasResults = false;
  for (const { functionResponse } of parts) {
    if (!isJsonObject(functionResponse)) continue;
    hasResults = true;
    const name = stringAt(functionResponse, 'name');
    conversation.toolResult(stringAt(functionResponse, 'id') || name, outputOf(functionResponse), name);
  }
  const text = contentText(parts);
  if (text !== '' || !hasResults) conversation.user(text);
}

/** A tool's result is an object of any shape. Agents put its text under one of these names. */
function outputOf(functionResponse: JsonObject): string {
  const response = objectAt(functionResponse, 'response');
  for (const name of ['output', 'error', 'result', 'content']) {
    const value = response[name];
    if (typeof value === 'string') return value;
  }
  return JSON.stringify(response);
}

/** One entry of `tools` declares several functions, or is one provider tool (`googleSearch`, `codeExecution`). */
function offeredTools(tool: JsonObject): OfferedTool[] {
  const functions = objectsAt(tool, 'functionDeclarations').map((declaration): OfferedTool => {
    const parameters = isJsonObject(declaration.parametersJsonSchema)
      ? declaration.parametersJsonSchema
      : jsonSchema(objectAt(declaration, 'parameters'));
    return {
      name: stringAt(declaration, 'name'),
      kind: 'function',
      ...present({ description: textAt(declaration, 'description') }),
      parameters,
    };
  });
  const hosted = Object.keys(tool).filter((name) => name !== 'functionDeclarations');
  return [...functions, ...hosted.map((name): OfferedTool => ({ name, kind: 'hosted' }))];
}

/** Gemini's own schemas are JSON Schema, except that types may be in capitals (`STRING`). */
function jsonSchema(schema: JsonObject): JsonObject {
  const converted: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    converted[name] = name === 'type' && typeof value === 'string' ? value.toLowerCase() : nested(value);
  }
  return converted;
}

function nested(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(nested);
  return isJsonObject(value) ? jsonSchema(value) : value;
}
