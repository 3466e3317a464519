import type { AgentContext } from '../agent.ts';
import type { AgentConfig } from '../config.ts';
import { contextPlacesOf } from '../native/context-places.ts';
import { placeSkills } from './declared-context.ts';
import { mcpServersOf } from './mcp-settings.ts';

/**
 * Puts what a variant declares where a command or a module looks for it. The servers are in the form that most agents
 * read: `{"mcpServers": {NAME: {command, args, env} | {type: "http", url, headers}}}`.
 */
export async function placeDeclared(
  config: AgentConfig,
  { sandbox, declared, session }: Pick<AgentContext, 'sandbox' | 'declared' | 'session'>,
): Promise<void> {
  if (!sandbox || !declared || !session.isNew) return;
  const { skills, mcpServers } = contextPlacesOf(config);
  if (skills !== undefined) await placeSkills(sandbox, skills, declared.skills);
  const entries = mcpServersOf(declared.mcpServers, ({ url, headers }) => ({ type: 'http', url, headers }));
  if (typeof mcpServers !== 'object' || !entries) return;
  const content = `${JSON.stringify({ mcpServers: entries }, null, 2)}\n`;
  await sandbox.writeFiles({ [`~/${mcpServers.file}`]: content });
}
