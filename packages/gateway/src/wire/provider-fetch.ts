import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import type { WireProtocol } from './neutral.ts';

/** Whether what is named is removed: a field of a request, or the type of a tool. */
export type Strips = (name: string) => boolean;

/**
 * Replaces each part of a conversation that has an address by a text that says so: the provider would fetch it, and an
 * address can carry out what the agent knows. Data in the request itself (`data:`, base64) stays, and so do addresses in
 * texts, in inputs of tools and in what the provider has found, which nobody fetches.
 * @returns the request, the same object when nothing was replaced.
 */
export const withoutAddresses = (wire: WireProtocol, raw: JsonObject, strips: Strips): JsonObject =>
  requests[wire](raw, strips);

const requests: Record<WireProtocol, (raw: JsonObject, strips: Strips) => JsonObject> = {
  'openai-responses': (raw, strips) => {
    const ofPart = (part: JsonObject) => openaiPart(part, strips, 'input_text');
    const ofItem = (item: JsonObject) => at(at(item, 'content', ofPart), 'output', ofPart);
    const ofVariables = (variables: JsonObject) =>
      Object.keys(variables).reduce((changed, name) => at(changed, name, ofPart), variables);
    return at(at(raw, 'input', ofItem), 'prompt', (prompt) => at(prompt, 'variables', ofVariables));
  },
  'openai-chat-completions': (raw, strips) =>
    at(raw, 'messages', (message) => at(message, 'content', (part) => openaiPart(part, strips, 'text'))),
  'anthropic-messages': (raw, strips) => {
    const ofMessage = (message: JsonObject) => at(message, 'content', (part) => anthropicPart(part, strips));
    return at(at(raw, 'messages', ofMessage), 'system', (part) => anthropicPart(part, strips));
  },
  'gemini-generate-content': (raw, strips) => {
    const ofContent = (content: JsonObject) => at(content, 'parts', (part) => geminiPart(part, strips));
    return ['contents', 'systemInstruction', 'system_instruction'].reduce(
      (request, name) => at(request, name, ofContent),
      // A token count may wrap the request whose tokens it counts.
      at(raw, 'generateContentRequest', (wrapped) => requests['gemini-generate-content'](wrapped, strips)),
    );
  },
};

function openaiPart(part: JsonObject, strips: Strips, textType: string): JsonObject {
  for (const [name, value] of Object.entries(part)) {
    // `image_url: "https:…"` of Responses is `image_url: { url: "https:…" }` of Chat Completions.
    const found = Object.entries(isJsonObject(value) ? value : { [name]: value }).find(isOpenaiAddress);
    if (found && strips(/url$/i.test(name) ? name : found[0])) return { type: textType, text: REPLACEMENT };
  }
  return part;
}

/** Some servers of OpenAI's wires also take an address where OpenAI wants the data of a file or of a sound. */
const isOpenaiAddress = ([name, value]: [string, JsonValue]): boolean =>
  isAddress(value) && (/url$/i.test(name) || (/data$/i.test(name) && String(value).includes('://')));

function anthropicPart(part: JsonObject, strips: Strips): JsonObject {
  const { source } = part;
  if (isJsonObject(source) && isAddress(source.url) && strips('url')) {
    return { type: 'text', text: REPLACEMENT };
  }
  const inside = (each: JsonObject) => anthropicPart(each, strips);
  // Results of tools have content, and so have documents that are made of parts.
  return at(at(part, 'content', inside), 'source', (own) => at(own, 'content', inside));
}

/** Google accepts field names in both forms. */
function geminiPart(part: JsonObject, strips: Strips): JsonObject {
  const file = part.fileData ?? part.file_data;
  const found = isJsonObject(file)
    ? ['fileUri', 'file_uri'].find((name) => isAddress(file[name]))
    : undefined;
  if (found !== undefined && strips(found)) return { text: REPLACEMENT };
  return ['functionResponse', 'function_response'].reduce(
    (changed, name) =>
      at(changed, name, (result) => at(result, 'parts', (inside) => geminiPart(inside, strips))),
    part,
  );
}

const REPLACEMENT =
  '[The gateway removed an address here, which the provider would have fetched. Send the data itself instead.]';

const isAddress = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' && !/^data:/i.test(value);

/** The object with each object at `name` changed, in a list or by itself; the same object when none of them changed. */
function at(object: JsonObject, name: string, change: (inside: JsonObject) => JsonObject): JsonObject {
  const value = object[name];
  if (isJsonObject(value)) {
    const changed = change(value);
    return changed === value ? object : { ...object, [name]: changed };
  }
  if (!Array.isArray(value)) return object;
  const list = value.map((item) => (isJsonObject(item) ? change(item) : item));
  return list.every((item, index) => item === value[index]) ? object : { ...object, [name]: list };
}
