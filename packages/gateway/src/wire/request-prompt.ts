import type { JsonObject, JsonValue } from '@whetstone/events';
import { isJsonObject, objectsAt, parseJsonObject, stringAt } from './json-reading.ts';
import type { WireProtocol } from './neutral.ts';

/** What an agent tells its model before the user's first prompt, as it is in the request's body. */
export type RequestPrompt = {
  /** The texts of the system prompt in their order, including developer messages. */
  systemPrompt: string[];
  /** The tool definitions with all their fields. */
  tools: JsonObject[];
};

/**
 * The system prompt and the tools of a model request, unchanged: texts as they were sent, and definitions with their
 * fields in the same order.
 * @throws RequestError 400 when the body is not a JSON object.
 */
export function readRequestPrompt(wire: WireProtocol, body: Uint8Array): RequestPrompt {
  return readers[wire](parseJsonObject(body));
}

const readers: Record<WireProtocol, (body: JsonObject) => RequestPrompt> = {
  'openai-responses'(body) {
    const input = objectsAt(body, 'input');
    // For models that take their tools in the conversation, Codex sends the tools as its first item.
    const added = input.filter((item) => stringAt(item, 'type') === 'additional_tools');
    return {
      systemPrompt: [...texts(body.instructions), ...input.filter(isSystem).flatMap(contentOf)],
      tools: [body, ...added].flatMap((holder) => objectsAt(holder, 'tools')),
    };
  },

  'openai-chat-completions': (body) => ({
    systemPrompt: objectsAt(body, 'messages').filter(isSystem).flatMap(contentOf),
    tools: objectsAt(body, 'tools'),
  }),

  // Claude Code sends part of its prompt as messages with the role `system`.
  'anthropic-messages': (body) => ({
    systemPrompt: [...texts(body.system), ...objectsAt(body, 'messages').filter(isSystem).flatMap(contentOf)],
    tools: objectsAt(body, 'tools'),
  }),

  'gemini-generate-content'(body) {
    const instruction = body.systemInstruction ?? body.system_instruction;
    return {
      systemPrompt: isJsonObject(instruction) ? texts(instruction.parts) : texts(instruction),
      tools: objectsAt(body, 'tools'),
    };
  },
};

const isSystem = (item: JsonObject): boolean => ['system', 'developer'].includes(stringAt(item, 'role'));

const contentOf = (item: JsonObject): string[] => texts(item.content);

/** A single text, or the texts of a list of parts. */
function texts(content: JsonValue | undefined): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  if (!Array.isArray(content)) return [];
  return objectsAt({ content }, 'content')
    .map((part) => stringAt(part, 'text'))
    .filter((text) => text !== '');
}
