import type { JsonObject, StreamEvent } from '@whetstone/events';
import { objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import { notStarted } from '../../kit/mcp-failures.ts';

/**
 * The protocol has no word for an MCP server that did not start. The adapter of Codex reports it as a call of its own,
 * and that of Claude Code as a message.
 */
export function serverFailure(update: JsonObject): StreamEvent | undefined {
  const { server } =
    /^mcp_startup\.(?<server>.+)\.[\w-]+$/.exec(textIn(update.toolCallId) ?? '')?.groups ?? {};
  if (server !== undefined) {
    const texts = objectsIn(update.content).map(({ content }) => textIn(objectIn(content)?.text) ?? '');
    return notStarted(server, texts.join('\n'));
  }
  if (update.sessionUpdate !== 'agent_message_chunk') return undefined;
  const { name, why } = SAID.exec(textIn(objectIn(update.content)?.text) ?? '')?.groups ?? {};
  return name === undefined || why === undefined ? undefined : notStarted(name, why);
}

const SAID = /^\s*\*\*MCP server "(?<name>[^"]+)" failed to start:\*\* (?<why>.*?)\s*$/s;
