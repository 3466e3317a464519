import type { JsonValue, StreamEvent } from '@whetstone/events';
import { objectsIn, textIn } from './fields.ts';

/** How agents say that a server is not there. One that is still connecting, or disabled, has not failed. */
const NOT_STARTED: ReadonlySet<unknown> = new Set(['failed', 'disconnected', 'needs-auth', 'error']);

/** An error for each MCP server that an agent lists as not started. A row would otherwise look as if it had been there. */
export const mcpFailures = (servers: JsonValue | undefined): StreamEvent[] =>
  objectsIn(servers).flatMap(({ name, status, error }) =>
    typeof name === 'string' && NOT_STARTED.has(status)
      ? [{ type: 'error', message: `The MCP server ${name} did not start: ${textIn(error) ?? `${status}`}` }]
      : [],
  );
