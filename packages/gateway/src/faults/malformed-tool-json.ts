import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@whetstone/events';
import { eventData, withEventData } from '../wire/event-splitter.ts';
import type { WireProtocol } from '../wire/neutral.ts';

/** An event with the tool inputs in its data broken. An event without tool inputs stays the same. */
export function breakToolInputsOfEvent(event: string, wire: WireProtocol): string {
  const data = eventData(event);
  const broken = breakToolInputs(data, wire);
  return broken === data ? event : withEventData(event, broken);
}

/** A response, or a part of one, with its tool inputs broken. A text that is not JSON stays the same. */
export function breakToolInputs(json: string, wire: WireProtocol): string {
  const value = parseJson(json);
  if (value === undefined) return json;
  const broken = JSON.stringify(walk(value, wire));
  return broken === JSON.stringify(value) ? json : broken;
}

function walk(value: JsonValue, wire: WireProtocol): JsonValue {
  if (Array.isArray(value)) return value.map((item) => walk(item, wire));
  if (!isJsonObject(value)) return value;
  const walked: JsonObject = {};
  for (const [name, field] of Object.entries(value)) {
    const isInput = inputFields[wire](value).includes(name);
    walked[name] = isInput && typeof field === 'string' ? breakInput(field) : walk(field, wire);
  }
  if (wire === 'anthropic-messages') return malformedToolUse(walked);
  return wire === 'gemini-generate-content' ? malformedCandidate(walked) : walked;
}

/** The fields of `object` that hold a tool's input or a piece of it. */
const inputFields: Record<WireProtocol, (object: JsonObject) => readonly string[]> = {
  'openai-responses': ({ type }) =>
    type === 'response.function_call_arguments.delta' ? ['delta'] : ['arguments'],
  'openai-chat-completions': () => ['arguments'],
  'anthropic-messages': ({ type }) => (type === 'input_json_delta' ? ['partial_json'] : []),
  'gemini-generate-content': () => [],
};

/** A second opening brace is never valid, whatever pieces of a streamed input follow. */
const breakInput = (input: string): string => (input.startsWith('{') ? `{${input}` : input);

/** A tool call that is not streamed has an object here. A streamed call starts with an empty object, which stays. */
function malformedToolUse(block: JsonObject): JsonObject {
  const isCall =
    block.type === 'tool_use' && isJsonObject(block.input) && Object.keys(block.input).length > 0;
  return isCall ? { ...block, input: breakInput(JSON.stringify(block.input)) } : block;
}

/** On this wire inputs are objects, so the provider holds back a malformed call and reports it. */
function malformedCandidate(object: JsonObject): JsonObject {
  const { content } = object;
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return object;
  const parts = content.parts.filter((part) => !isJsonObject(part) || part.functionCall === undefined);
  if (parts.length === content.parts.length) return object;
  return { ...object, content: { ...content, parts }, finishReason: 'MALFORMED_FUNCTION_CALL' };
}
