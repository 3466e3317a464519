import { Readable } from 'node:stream';
import type { AgentFamily, KeptExchange } from '@whetstone/gateway';
import type { CallBodies } from './api.ts';
import { openCaseFile, type RecordedCase } from './case-files.ts';

/** Characters of all texts of a call. A browser draws only those that a reader unfolds. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** What is left of each text after that. */
const SHORT_TEXT = 2000;

/** The bodies of a model call of a case by the id of its ledger line; `undefined` when they were not kept. */
export async function findExchange(recorded: RecordedCase, call: string): Promise<KeptExchange | undefined> {
  const file = await openCaseFile(recorded, 'exchanges', undefined);
  if (!file?.stream) return undefined;
  const { readExchange } = await import('@whetstone/gateway');
  return readExchange(file.stream, call);
}

/** The bodies of a model call as a person reads them. `compareAs`: without what differs from session to session. */
export async function callBodies(exchange: KeptExchange, compareAs?: string): Promise<CallBodies> {
  const { agentFamilies, describeExchange } = await import('@whetstone/gateway');
  const family = agentFamilies.find((one): one is AgentFamily => one === compareAs);
  const { id, request, request_omitted, reply, reply_omitted } = exchange;
  const { value, cut } = shortened(describeExchange(exchange, family));
  return {
    ...value,
    ...{ id, request_omitted, reply_omitted, cut },
    request_characters: request?.length ?? null,
    reply_characters: reply?.length ?? null,
  };
}

/** A body as it was kept. */
export const bodyStream = (body: string): Readable => Readable.from([Buffer.from(body)]);

/** The same value with long texts cut once there are too many of them. */
function shortened<Value>(value: Value): { value: Value; cut: number } {
  let [seen, cut] = [0, 0];
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'string') return part;
    seen += part.length;
    if (seen <= MOST_CHARACTERS || part.length <= SHORT_TEXT) return part;
    cut += part.length - SHORT_TEXT;
    return `${part.slice(0, SHORT_TEXT)} …`.toWellFormed();
  });
  return { value: JSON.parse(text), cut };
}
