import { createHash } from 'node:crypto';
import type { JsonObject } from '@whetstone/events';
import type { Call, ModelCall } from '../source.ts';
import { parseJsonObject } from '../wire/json-reading.ts';
import { canonicalRequest } from './canonical-request.ts';
import { canonicalRulesVersion } from './canonical-rules.ts';
import type { RecordedExchange } from './cassette.ts';
import type { LaneNames } from './lane-names.ts';

/** The part of a request that a cassette keeps. */
export type RecordedRequest = Omit<RecordedExchange, 'response'>;

export const recordedModelCall = (call: ModelCall, names: LaneNames): RecordedRequest => ({
  ...recorded(call, call.neutral.raw, names),
  main: call.neutral.tools.length > 0,
  turn: call.neutral.messages.filter((message) => message.role === 'assistant').length,
});

export const recordedCall = (call: Call, names: LaneNames): RecordedRequest => ({
  ...recorded(call, otherBody(call.body), names),
  main: false,
  turn: 0,
});

/** A body that belongs to no wire may not be JSON. Then its hash represents it. */
function otherBody(body: Buffer): JsonObject {
  try {
    return body.length === 0 ? {} : parseJsonObject(body);
  } catch {
    return { sha256: createHash('sha256').update(body).digest('hex') };
  }
}

function recorded({ method, wire, line }: Call, body: JsonObject, names: LaneNames) {
  const { path, agent_family: family } = line;
  const { key, request } = canonicalRequest({ method, path, body, family, names });
  return { version: 1 as const, rules: canonicalRulesVersion, key, wire, method, path, request };
}
