import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { AgentFamily } from '../agent-family.ts';
import { canonicalRequest } from '../cassette/canonical-request.ts';
import { objectAt, objectsAt, parseJsonObject, stringAt } from '../wire/json-reading.ts';
import { inputText, type NeutralMessage, type WireProtocol } from '../wire/neutral.ts';
import { wires } from '../wire/wires.ts';
import type { KeptExchange } from './exchange-file.ts';
import { replyAsHistory } from './reply-as-history.ts';

/** A model call as a person reads it. Items that the gateway does not know are only in the bodies. */
export type ReadableExchange = {
  /** `null`: the body was left out or cut, or is not one of its wire. */
  request: ReadableRequest | null;
  /** The reply, most often one message. Empty: there was none, or it was an error. */
  reply: ReadableMessage[];
};

export type ReadableRequest = {
  model: string;
  /** The texts of the system prompt in their order. */
  system: string[];
  /** `definition`: as JSON, indented. */
  tools: { name: string; definition: string }[];
  messages: ReadableMessage[];
};

export type ReadableMessage = {
  role: NeutralMessage['role'];
  /** `name`: of the tool, for calls and results. */
  parts: { kind: 'text' | 'thinking' | 'call' | 'result'; name?: string; text: string }[];
};

/**
 * Reads the bodies of a model call. `family`: with it, the request comes without what differs from session to session (dates, ids,
 * folders of a home), so that two requests can be compared.
 */
export function describeExchange(
  { wire, request, reply }: Pick<KeptExchange, 'wire' | 'request' | 'reply'>,
  family?: AgentFamily,
): ReadableExchange {
  return {
    request: request === null ? null : (orUndefined(() => describeRequest(wire, request, family)) ?? null),
    reply: (reply !== null && orUndefined(() => describeReply(wire, reply))) || [],
  };
}

/** Bodies come from anywhere, and may be cut. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function describeRequest(wire: WireProtocol, text: string, family?: AgentFamily): ReadableRequest {
  const body = parseJsonObject(Buffer.from(text));
  const raw = family ? canonicalRequest({ method: 'POST', path: '', body, family, names: {} }).request : body;
  const { systemPrompt: system, tools } = wires[wire].prompt(raw);
  return {
    model: stringAt(raw, 'model'),
    system,
    tools: tools.flatMap(singleTools).map((tool) => ({
      name: nameOf(tool),
      definition: JSON.stringify(tool, null, 2),
    })),
    messages: messagesOf(wire, raw),
  };
}

const describeReply = (wire: WireProtocol, text: string): ReadableMessage[] =>
  messagesOf(wire, replyAsHistory(wire, text));

const messagesOf = (wire: WireProtocol, raw: JsonObject): ReadableMessage[] =>
  wires[wire].parse(Buffer.from(JSON.stringify(raw))).messages.map(readable);

function readable(message: NeutralMessage): ReadableMessage {
  const { role } = message;
  const written = (kind: 'text' | 'thinking', text: string) => (text === '' ? [] : [{ kind, text }]);
  switch (role) {
    case 'user':
      return { role, parts: written('text', message.text) };
    case 'assistant': {
      const calls = message.toolCalls.map((call) => ({
        kind: 'call' as const,
        name: call.name,
        text: inputText(call),
      }));
      return {
        role,
        parts: [...written('thinking', message.thinking), ...written('text', message.text), ...calls],
      };
    }
    case 'tool': {
      const results = message.toolResults.map(({ name, output }) => ({
        kind: 'result' as const,
        ...present({ name: name || undefined }),
        text: output,
      }));
      return { role, parts: results };
    }
  }
}

/** The tools of a definition that holds several: declarations of Gemini, namespaces of OpenAI. */
function singleTools(tool: JsonObject): JsonObject[] {
  const held = [...objectsAt(tool, 'functionDeclarations'), ...objectsAt(tool, 'tools')];
  return held.length === 0 ? [tool] : held;
}

const nameOf = (tool: JsonObject): string =>
  stringAt(tool, 'name') ||
  stringAt(objectAt(tool, 'function'), 'name') ||
  stringAt(objectAt(tool, 'custom'), 'name') ||
  stringAt(tool, 'type') ||
  Object.keys(tool).join(', ');
