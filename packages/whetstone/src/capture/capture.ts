import { createHash } from 'node:crypto';
import { drivenAgentKinds } from '@whetstone/agents/config';
import type { JsonObject } from '@whetstone/events';
import { type AgentFamily, agentFamilies, canonicalRequest, wireProtocols } from '@whetstone/gateway';
import { z } from 'zod';

const json = z.record(z.string(), z.json());

export const captureSchema = z.object({
  version: z.literal(1),
  kind: z.enum(drivenAgentKinds),
  /** The version of the agent, from its `--version`, without anything around it. */
  agentVersion: z.string(),
  /** ISO 8601. */
  capturedAt: z.string(),
  wire: z.enum(wireProtocols),
  /** The model, as the request names it. */
  model: z.string(),
  /** The texts of the system prompt in their order, as sent. */
  systemPrompt: z.array(z.string()),
  /** The tool definitions, as sent. */
  tools: z.array(json),
  /** SHA-256, in hexadecimal, of prompt and tools without what differs from run to run. */
  hash: z.string(),
  /** Texts of this run that differ from run to run and have no recognisable form, each with its replacement. */
  names: z.record(z.string(), z.string()),
  family: z.enum(agentFamilies),
  /** The request that everything was taken from. */
  request: z.object({
    /** The headers that identify the client and its capabilities. Never a key. */
    headers: z.record(z.string(), z.string()),
    /** The body as it was sent, decompressed. */
    body: z.string(),
  }),
});

/** What a released agent sends to its model before the user's task. `loadProfile` of the loop can read it. */
export type Capture = z.infer<typeof captureSchema>;

export type CapturedPrompt = Pick<Capture, 'systemPrompt' | 'tools'>;

/** Prompt and tools without what differs from run to run, with sorted fields. For comparing, not for sending. */
export function canonicalPrompt(
  { systemPrompt, tools }: CapturedPrompt,
  names: Readonly<Record<string, string>>,
  family: AgentFamily,
): JsonObject {
  // Only elements of the lists, because the rules for fields of the request do not apply here.
  const body = { systemPrompt, tools };
  return canonicalRequest({ method: 'POST', path: '', body, family, names }).request;
}

export const promptHash = (canonical: JsonObject): string =>
  createHash('sha256').update(JSON.stringify(canonical)).digest('hex');
