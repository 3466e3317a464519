import type { JsonObject } from '@whetstone/events';
import { encodeMessage, streamMessage } from './anthropic-messages/encode.ts';
import { parseMessagesRequest } from './anthropic-messages/parse.ts';
import type { NeutralReply, NeutralRequest, WireProtocol } from './neutral.ts';
import { encodeResponse, streamResponse } from './openai-responses/encode.ts';
import { parseResponsesRequest } from './openai-responses/parse.ts';

/** What the gateway can do with a wire protocol. */
export type Wire = {
  parse(body: Uint8Array): NeutralRequest;
  /** The whole reply as one JSON body. */
  encode(reply: NeutralReply): JsonObject;
  /** The reply as server-sent events. */
  stream(reply: NeutralReply): Iterable<string>;
};

export const wires: Record<WireProtocol, Wire> = {
  'openai-responses': { parse: parseResponsesRequest, encode: encodeResponse, stream: streamResponse },
  'anthropic-messages': { parse: parseMessagesRequest, encode: encodeMessage, stream: streamMessage },
};
