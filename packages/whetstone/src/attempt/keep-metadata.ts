import { writeFile } from 'node:fs/promises';
import type { Turn } from '@whetstone/agents';
import { deriveAgentMetadata } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Exposure } from '../record/exposure-schema.ts';
import type { Lab } from './lab.ts';
import { maskValues } from './mask-values.ts';

/** Writes `agent.json`: what the agent did (`AgentMetadata`), and what it saw of the context of its variant. */
export async function keepMetadata(
  { events, facts }: Turn,
  exposure: Exposure | undefined,
  file: string,
  { mask, record }: Lab,
): Promise<void> {
  // What was enforced, and not what the agent's profile declares.
  const { network } = record.manifest.isolation;
  const derived = { ...deriveAgentMetadata(events, facts), network };
  const metadata = maskValues({ ...derived, ...present({ exposure }) }, mask);
  await writeFile(file, `${JSON.stringify(metadata, null, 2)}\n`, { mode: 0o600 });
}
