import { createHash } from 'node:crypto';
import { drivenAgentKinds } from '@whetstone/agents/config';
import type { JsonObject } from '@whetstone/events';
import { type AgentFamily, agentFamilies, canonicalRequest, wireProtocols } from '@whetstone/gateway';
import { z } from 'zod';

const json = z.record(z.string(), z.json());

export const captureSchema = z.object({
  version: z.literal(1),
  kind: z.enum(drivenAgentKinds),
  /** Of the agent, as its `--version` says it; without the name and what else stands around it. */
  agentVersion: z.string(),
  /** ISO 8601. */
  capturedAt: z.string(),
  wire: z.enum(wireProtocols),
  /** As the request names it. */
  model: z.string(),
  /** The texts of the system prompt in their order, as sent. */
  systemPrompt: z.array(z.string()),
  /** The tool definitions, as sent. */
  tools: z.array(json),
  /** SHA-256 in hexadecimal of prompt and tools without what differs from run to run. */
  hash: z.string(),
  /** What differs from run to run, and cannot be told by its form: texts of this one, and what stands for each. */
  names: z.record(z.string(), z.string()),
  family: z.enum(agentFamilies),
  /** The request that all this was taken from. */
  request: z.object({
    /** Those by which a client says what it is and what it can do; never a key. */
    headers: z.record(z.string(), z.string()),
    /** As it was sent, decompressed. */
    body: z.string(),
  }),
});

/**
 * What a released agent sends to its model before anybody has asked for anything. `loadProfile` of the loop reads it
 * where it knows the wire.
 */
export type Capture = z.infer<typeof captureSchema>;

export type CapturedPrompt = Pick<Capture, 'systemPrompt' | 'tools'>;

/** Prompt and tools without what differs from run to run, fields in alphabetical order: to compare, not to send. */
export function canonicalPrompt(
  { systemPrompt, tools }: CapturedPrompt,
  names: Readonly<Record<string, string>>,
  family: AgentFamily,
): JsonObject {
  // Elements of the lists, and not the request's own fields: the rules for those say nothing here.
  const body = { systemPrompt, tools };
  return canonicalRequest({ method: 'POST', path: '', body, family, names }).request;
}

export const promptHash = (canonical: JsonObject): string =>
  createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
