import type { McpServer } from './declared-context.ts';

type HttpServer = Extract<McpServer, { kind: 'http' }>;

/** The address of an HTTP server as most agents write it, and as Gemini CLI and Qwen Code do. */
export const typedAddress = ({ url, headers }: HttpServer) => ({ type: 'http', url, headers });
export const httpUrlAddress = ({ url, headers }: HttpServer) => ({ httpUrl: url, headers });

/**
 * The `mcpServers` object that most agents read. Commands are the same in all of them; `address` makes the entry of an
 * HTTP server. `undefined` if there are no servers, so that the setting is absent.
 */
export function mcpServersOf<Address extends object>(
  servers: readonly McpServer[] | undefined,
  address: (server: HttpServer) => Address,
): Record<string, { command: string; args: string[]; env: Record<string, string> } | Address> | undefined {
  if (!servers || servers.length === 0) return undefined;
  return Object.fromEntries(
    servers.map((server) => {
      if (server.kind === 'http') return [server.name, address(server)];
      const { command, args, env } = server;
      return [server.name, { command, args, env }];
    }),
  );
}

/**
 * The same for an agent that replaces `$NAME` and `${NAME}` in its settings. A value with a dollar sign, such as a
 * password, moves into a variable of `env`, and the settings name that variable.
 */
export function shieldedServers(
  servers: readonly McpServer[] | undefined,
  address: (server: HttpServer) => object,
): { mcpServers: Record<string, object> | undefined; env: Record<string, string> } {
  const env: Record<string, string> = {};
  const shielded = (_: string, value: unknown): unknown => {
    if (typeof value !== 'string' || !value.includes('$')) return value;
    const name = `WHETSTONE_VALUE_${Object.keys(env).length + 1}`;
    env[name] = value;
    return `\${${name}}`;
  };
  const entries = mcpServersOf(servers, address);
  return { mcpServers: entries && JSON.parse(JSON.stringify(entries), shielded), env };
}
