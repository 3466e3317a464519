import type { McpServerConfig } from '@whetstone/agents/config';
import { checkMapping, isGiven } from './check-shape.ts';
import { referenceProblem } from './environment-reference.ts';
import { readEnv } from './read-agent.ts';
import { existingPath, type ReadContext } from './read-context.ts';
import type { Reporter } from './reporter.ts';
import { mcpServerSchema } from './schema.ts';
import { keysInOrder, type YamlPath } from './yaml-source.ts';

/** `mcp_servers` of a variant, by name: a command that speaks MCP on its standard streams, or a URL. */
export function readMcpServers(
  map: Record<string, unknown>,
  path: YamlPath,
  context: ReadContext,
): McpServerConfig[] {
  return keysInOrder(context.report.yaml, path, map).flatMap(
    (name) => readMcpServer(name, map[name], [...path, name], context) ?? [],
  );
}

function readMcpServer(
  name: string,
  raw: unknown,
  path: YamlPath,
  context: ReadContext,
): McpServerConfig | undefined {
  const { report } = context;
  // Agents build tool names from it, joined with `_`, `__` or `-`, and replace or refuse other characters.
  if (!/^[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*$/.test(name)) {
    const message =
      'a server name must start with a letter and consist of letters and digits, joined by single - or _';
    report.error(path, message, { mark: 'key' });
  }
  const fields = checkMapping(mcpServerSchema, raw, path, report);
  if (!fields) return undefined;
  const given = (key: string) => isGiven(raw, key);
  if (given('command') === given('url')) {
    report.error(path, 'a server needs either command (with args and env) or url (with headers)');
    return undefined;
  }
  const foreign = given('command') ? ['headers'] : ['args', 'env'];
  for (const key of foreign.filter(given)) {
    const message = `cannot be used together with ${given('command') ? 'command' : 'url'}`;
    report.error([...path, key], message, { mark: 'key' });
  }
  if (fields.url != null) {
    return { kind: 'http', name, url: fields.url, headers: readHeaders(fields.headers ?? {}, path, report) };
  }
  if (fields.command == null) return undefined;
  return {
    kind: 'command',
    name,
    command: ownFile(fields.command, [...path, 'command'], context),
    args: (fields.args ?? []).map((arg, index) => ownFile(arg, [...path, 'args', index], context)),
    env: readEnv(fields.env, path, report),
  };
}

/** A value that starts with `./` or `../` is a file, relative to the config's folder. Other values stay as written. */
function ownFile(value: string, path: YamlPath, context: ReadContext): string | { file: string } {
  if (!/^\.\.?\//.test(value)) return value;
  const file = existingPath(value, path, context, 'file');
  return file === undefined ? value : { file };
}

function readHeaders(raw: Record<string, string>, path: YamlPath, report: Reporter): Record<string, string> {
  for (const [name, value] of Object.entries(raw)) {
    const at = [...path, 'headers', name];
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      report.error(at, 'is not a valid header name', { mark: 'key', secret: true });
    }
    const problem = /[\r\n]/.test(value) ? 'contains a line break' : referenceProblem(value);
    if (problem !== undefined) report.error(at, problem, { secret: true });
  }
  return raw;
}
