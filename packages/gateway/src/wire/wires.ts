import type { JsonObject } from '@whetstone/events';
import { encodeMessage, streamMessage } from './anthropic-messages/encode.ts';
import { meterMessages } from './anthropic-messages/meter.ts';
import { messagesPrompt, parseMessagesRequest } from './anthropic-messages/parse.ts';
import { encodeGenerateContent, streamGenerateContent } from './gemini-generate-content/encode.ts';
import { meterGenerateContent } from './gemini-generate-content/meter.ts';
import { generateContentPrompt, parseGenerateContentRequest } from './gemini-generate-content/parse.ts';
import { parseJsonObject } from './json-reading.ts';
import type { WireMeter } from './metered.ts';
import type { NeutralReply, NeutralRequest, RequestPrompt, RequestTarget, WireProtocol } from './neutral.ts';
import { encodeChatCompletion, streamChatCompletion } from './openai-chat-completions/encode.ts';
import { meterChatCompletions } from './openai-chat-completions/meter.ts';
import { chatPrompt, parseChatRequest } from './openai-chat-completions/parse.ts';
import { encodeResponse, streamResponse } from './openai-responses/encode.ts';
import { meterResponses } from './openai-responses/meter.ts';
import { parseResponsesRequest, responsesPrompt } from './openai-responses/parse.ts';

export type Wire = {
  parse(body: Uint8Array, target?: RequestTarget): NeutralRequest;
  /** The system prompt and the tools of a request's body, as they were sent. */
  prompt(body: JsonObject): RequestPrompt;
  encode(reply: NeutralReply): JsonObject;
  stream(reply: NeutralReply, request: NeutralRequest): Iterable<string>;
  meter(): WireMeter;
};

export const wires: Record<WireProtocol, Wire> = {
  'openai-responses': {
    parse: parseResponsesRequest,
    prompt: responsesPrompt,
    encode: encodeResponse,
    stream: streamResponse,
    meter: meterResponses,
  },
  'openai-chat-completions': {
    parse: parseChatRequest,
    prompt: chatPrompt,
    encode: encodeChatCompletion,
    stream: streamChatCompletion,
    meter: meterChatCompletions,
  },
  'anthropic-messages': {
    parse: parseMessagesRequest,
    prompt: messagesPrompt,
    encode: encodeMessage,
    stream: streamMessage,
    meter: meterMessages,
  },
  'gemini-generate-content': {
    parse: parseGenerateContentRequest,
    prompt: generateContentPrompt,
    encode: encodeGenerateContent,
    stream: streamGenerateContent,
    meter: meterGenerateContent,
  },
};

/**
 * The system prompt and the tools of a model request, unchanged: texts as they were sent, and definitions with their
 * fields in the same order.
 * @throws RequestError 400 when the body is not a JSON object.
 */
export const readRequestPrompt = (wire: WireProtocol, body: Uint8Array): RequestPrompt =>
  wires[wire].prompt(parseJsonObject(body));
