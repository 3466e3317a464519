import type { McpServerConfig } from '@whetstone/agents/config';
import { checkMapping, isGiven } from './check-shape.ts';
import { referenceProblem } from './environment-reference.ts';
import { existingPath } from './existing-path.ts';
import { readEnv } from './read-agent.ts';
import { mcpServerSchema } from './schema.ts';
import type { Spot } from './spot.ts';

/** `mcp_servers` of a variant, by name: a command that speaks MCP on its standard streams, or a URL. */
export function readMcpServers(map: Record<string, unknown>, spot: Spot): McpServerConfig[] {
  return spot.keysOf(map).flatMap((name) => readMcpServer(name, map[name], spot.at(name)) ?? []);
}

function readMcpServer(name: string, raw: unknown, spot: Spot): McpServerConfig | undefined {
  // Agents build tool names from it, joined with `_`, `__` or `-`, and replace or refuse other characters.
  if (!/^[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*$/.test(name)) {
    const message =
      'a server name must start with a letter and consist of letters and digits, joined by single - or _';
    spot.error(message, { mark: 'key' });
  }
  const fields = checkMapping(mcpServerSchema, raw, spot);
  if (!fields) return undefined;
  const given = (key: string) => isGiven(raw, key);
  if (given('command') === given('url')) {
    spot.error('a server needs either command (with args and env) or url (with headers)');
    return undefined;
  }
  const foreign = given('command') ? ['headers'] : ['args', 'env'];
  for (const key of foreign.filter(given)) {
    const message = `cannot be used together with ${given('command') ? 'command' : 'url'}`;
    spot.at(key).error(message, { mark: 'key' });
  }
  if (fields.url != null) {
    return { kind: 'http', name, url: fields.url, headers: readHeaders(fields.headers ?? {}, spot) };
  }
  if (fields.command == null) return undefined;
  return {
    kind: 'command',
    name,
    command: ownFile(fields.command, spot.at('command')),
    args: (fields.args ?? []).map((arg, index) => ownFile(arg, spot.at('args', index))),
    env: readEnv(fields.env, spot),
  };
}

/** A value that starts with `./` or `../` is a file, relative to the config's folder. Other values stay as written. */
function ownFile(value: string, spot: Spot): string | { file: string } {
  if (!/^\.\.?\//.test(value)) return value;
  const file = existingPath(value, spot, 'file');
  return file === undefined ? value : { file };
}

function readHeaders(raw: Record<string, string>, spot: Spot): Record<string, string> {
  for (const [name, value] of Object.entries(raw)) {
    const at = spot.at('headers', name);
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      at.error('is not a valid header name', { mark: 'key', secret: true });
    }
    const problem = /[\r\n]/.test(value) ? 'contains a line break' : referenceProblem(value);
    if (problem !== undefined) at.error(problem, { secret: true });
  }
  return raw;
}
