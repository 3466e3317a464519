import { commandParts } from '../command/template.ts';
import type { AgentConfig } from '../config.ts';

/** What a command or a variable says when it points a program at the gateway. */
const MENTION = /\{gateway_url\}|WHETSTONE_GATEWAY_URL|\w+_BASE_URL/;

const mentions = (word: string): boolean => MENTION.test(word);

/** Kinds whose program looks into the variables that a lane sets; of a custom one nobody knows, so it is tried. */
const READS_VARIABLES: ReadonlySet<AgentConfig['kind']> = new Set(['claude-code', 'custom']);

/** Whether an agent's model calls go through the gateway where a run has one. */
export function leadsToGateway({ kind, command, resumeCommand, env, loop, cli }: AgentConfig): boolean {
  const own = loop ?? cli;
  if (own) return own.baseUrl === undefined;
  if (!command || READS_VARIABLES.has(kind)) return true;
  if (Object.entries(env).flat().some(mentions)) return true;
  return [command, ...(resumeCommand ? [resumeCommand] : [])].every((one) =>
    commandParts(one).some(mentions),
  );
}
