import { createHash } from 'node:crypto';
import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import { messageOf } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { defineTool, type RegisteredTool } from '../tools/tool.ts';
import { validateArguments } from '../tools/validate-arguments.ts';
import type { McpConnection } from './mcp-connection.ts';

/** What providers take (`ToolRegistry`). */
const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 4_096;

/** The servers' tools as tools of a session. Entries that are not tools, and tools whose schema cannot check arguments, are `problems`. */
export async function createMcpTools(connections: readonly McpConnection[]): Promise<{
  tools: RegisteredTool[];
  problems: { server: string; message: string }[];
}> {
  const tools = new Map<string, RegisteredTool>();
  const problems: { server: string; message: string }[] = [];
  for (const connection of connections) {
    const { server } = connection;
    const leaveOut = (entry: string, reason: string): void => {
      problems.push({ server, message: `${entry} of the MCP server ${server} is left out: ${reason}` });
    };
    for (const { entry, reason } of connection.leftOut) leaveOut(entry, reason);
    for (const listed of connection.tools) {
      const name = toolName(server, listed.name, (taken) => tools.has(taken));
      const tool = createMcpTool(name, listed, connection);
      try {
        await validateArguments(tool.definition, '{}');
        tools.set(name, tool);
      } catch (error) {
        leaveOut(`The tool ${listed.name}`, `its input schema cannot be used (${messageOf(error)})`);
      }
    }
  }
  return { tools: [...tools.values()], problems };
}

function createMcpTool(
  name: string,
  { name: original, description = '', inputSchema, annotations }: Tool,
  connection: McpConnection,
): RegisteredTool {
  const said = description.replaceAll('\0', '').toWellFormed().slice(0, LONGEST_DESCRIPTION).trim();
  return defineTool<JsonObject>({
    definition: {
      name,
      description: said || `The tool ${original} of the MCP server ${connection.server}.`,
      parameters: parametersOf(inputSchema as JsonObject),
    },
    ...(annotations?.readOnlyHint === true && { concurrency: 'shared' }),
    executor: async (args, { signal }) => {
      const result = await connection.call(original, args, signal);
      return { content: mcpResultText(result), isError: result.isError === true };
    },
  });
}

/** Identity, dialect and `$async` are for whoever keeps schemas; here they could only do harm. */
function parametersOf({ $schema: _, $id: __, $async: ___, ...schema }: JsonObject): JsonObject {
  return { ...schema, type: 'object', properties: schema.properties ?? {} };
}

/** `mcp__SERVER__TOOL`, as Claude Code and Codex write it; with a hash of the original if too long or taken. */
function toolName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  const name = `mcp__${server}__${tool}`.replaceAll(/[^\w-]/g, '_');
  if (name.length <= LONGEST_NAME && !isTaken(name)) return name;
  // Servers of one name can have the same tool.
  for (const original: (string | number)[] = [server, tool]; ; original.push(original.length)) {
    const hash = createHash('sha256').update(JSON.stringify(original)).digest('hex').slice(0, 8);
    const hashed = `${name.slice(0, LONGEST_NAME - hash.length - 1)}_${hash}`;
    if (!isTaken(hashed)) return hashed;
  }
}

/** What the model reads of a result. Pictures, sound and files are named, not shown: a server's word is text here. */
function mcpResultText({ content, structuredContent }: CallToolResult): string {
  const texts = content.map(textOf);
  // Servers are asked to say the same as text; where one does not, this is all there is.
  const isSaid = content.some(({ type }) => type === 'text');
  if (structuredContent !== undefined && !isSaid) texts.push(JSON.stringify(structuredContent));
  return texts.length === 0 ? '(no output)' : texts.join('\n');
}

function textOf(block: CallToolResult['content'][number]): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type} of ${sizeOf(block.data)} bytes, ${block.mimeType}, not shown]`;
    case 'resource_link':
      return `[resource ${block.name}: ${block.uri}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `[resource ${resource.uri}]\n${resource.text}`;
      return `[resource ${resource.uri} of ${sizeOf(resource.blob)} bytes, not shown]`;
    }
  }
}

const sizeOf = (base64: string): number => Buffer.byteLength(base64, 'base64');
