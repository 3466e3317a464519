import { type Client, type StandardSchemaV1, specTypeSchemas, type Tool } from '@modelcontextprotocol/client';
import { isJsonObject } from '@whetstone/events';

/** `leftOut`: the entries that are not tools. */
export type ListedTools = { tools: Tool[]; leftOut: LeftOut[] };

/** `entry`: `The tool NAME`, or `Tool 3` where it has no name. */
export type LeftOut = { entry: string; reason: string };

/** What ends a server that always has another page. */
const MOST_PAGES = 100;
const SHOWN_NAME = 100;

/** All pages of a server's tools. The client's own list rejects as a whole if one entry is not a tool. */
export async function listTools(client: Client, signal: AbortSignal): Promise<ListedTools> {
  const tools: Tool[] = [];
  const leftOut: LeftOut[] = [];
  if (!client.getServerCapabilities()?.tools) return { tools, leftOut };
  let cursor: string | undefined;
  for (let page = 1; page <= MOST_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const { entries, nextCursor } = await client.request({ method: 'tools/list', params }, toolsPage, {
      signal,
    });
    for (const entry of entries) {
      const read = await specTypeSchemas.Tool['~standard'].validate(entry);
      if (!read.issues) tools.push(read.value);
      else
        leftOut.push({ entry: nameOf(entry, tools.length + leftOut.length), reason: reasonOf(read.issues) });
    }
    if (nextCursor === undefined) return { tools, leftOut };
    cursor = nextCursor;
  }
  throw new Error(`its list of tools has more than ${MOST_PAGES} pages`);
}

type Page = { entries: unknown[]; nextCursor: string | undefined };

/** A [Standard Schema](https://standardschema.dev) of a page whose entries have not been looked at. */
const toolsPage: StandardSchemaV1<unknown, Page> = {
  '~standard': {
    version: 1,
    vendor: 'whetstone',
    validate: (result) => {
      if (!isJsonObject(result) || !Array.isArray(result.tools))
        return { issues: [{ message: 'its list of tools has no `tools`' }] };
      const { nextCursor } = result;
      return {
        value: {
          entries: result.tools,
          nextCursor: typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined,
        },
      };
    },
  },
};

function nameOf(entry: unknown, index: number): string {
  const name = isJsonObject(entry) && typeof entry.name === 'string' ? entry.name.slice(0, SHOWN_NAME) : '';
  return name === '' ? `Tool ${index + 1}` : `The tool ${name}`;
}

type Issue = { message: string; path?: readonly unknown[] | undefined };

function reasonOf(issues: readonly Issue[]): string {
  const [first] = issues;
  const path = (first?.path ?? [])
    .map((part) => String(typeof part === 'object' && part && 'key' in part ? part.key : part))
    .join('.');
  return `${path === '' ? 'it is not a tool' : path}: ${first?.message}`;
}
