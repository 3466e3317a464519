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
  { mask }: Lab,
): Promise<void> {
  const metadata = maskValues({ ...deriveAgentMetadata(events, facts), ...present({ exposure }) }, mask);
  await writeFile(file, `${JSON.stringify(metadata, null, 2)}\n`, { mode: 0o600 });
}
