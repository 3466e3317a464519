import { createHash } from 'node:crypto';
import type { JsonObject } from '@whetstone/events';
import type { Call, ModelCall } from '../source.ts';
import { parseJsonObject } from '../wire/json-reading.ts';
import { type CanonicalRequest, canonicalRequest } from './canonical-request.ts';
import { canonicalRulesVersion } from './canonical-rules.ts';
import type { RecordedExchange } from './cassette.ts';
import type { LaneNames } from './lane-names.ts';

/** The part of a request that a cassette keeps. */
export type RecordedRequest = Omit<RecordedExchange, 'response'>;

export function recordedModelCall(call: ModelCall, names: LaneNames): RecordedRequest {
  const { neutral } = call;
  return {
    ...recorded(call, canonical(call, neutral.raw, names)),
    main: neutral.tools.length > 0,
    turn: neutral.messages.filter((message) => message.role === 'assistant').length,
  };
}

export function recordedCall(call: Call, names: LaneNames): RecordedRequest {
  return { ...recorded(call, canonical(call, otherBody(call.body), names)), main: false, turn: 0 };
}

/** A body that belongs to no wire may not be JSON. Then its hash represents it. */
function otherBody(body: Buffer): JsonObject {
  try {
    return body.length === 0 ? {} : parseJsonObject(body);
  } catch {
    return { sha256: createHash('sha256').update(body).digest('hex') };
  }
}

const canonical = (call: Call, body: JsonObject, names: LaneNames): CanonicalRequest =>
  canonicalRequest({
    method: call.method,
    path: call.line.path,
    body,
    family: call.line.agent_family,
    names,
  });

const recorded = (
  call: Call,
  { key, request }: CanonicalRequest,
): Omit<RecordedRequest, 'main' | 'turn'> => ({
  version: 1,
  rules: canonicalRulesVersion,
  key,
  wire: call.wire,
  method: call.method,
  path: call.line.path,
  request,
});
