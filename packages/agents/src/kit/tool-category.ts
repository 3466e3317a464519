import type { JsonValue } from '@whetstone/events';
import { objectIn, textIn } from './fields.ts';

/** Tool names of the known agents, in lower case and without separators. The metadata already knows the shell tools. */
const TOOLS = {
  file_read: ['read', 'readfile', 'readmanyfiles', 'viewimage', 'notebookread'],
  file_write: ['write', 'writefile', 'createfile'],
  file_edit: [
    ...['edit', 'editfile', 'multiedit', 'notebookedit', 'replace'],
    ...['applypatch', 'patch', 'filechange', 'strreplace'],
  ],
  shell: [],
  web_fetch: ['webfetch', 'fetch'],
  web_search: ['websearch', 'googlewebsearch'],
  glob: ['glob', 'find', 'findfiles'],
  grep: ['grep', 'searchfilecontent', 'greptool', 'search'],
  list_dir: ['ls', 'list', 'listdir', 'listdirectory'],
  agent_task: ['task', 'agent', 'spawnagent'],
  unknown: [],
} as const satisfies Record<string, readonly string[]>;

export type ToolCategory = keyof typeof TOOLS;
export const TOOL_CATEGORIES = Object.keys(TOOLS) as readonly ToolCategory[];

/** What a tool does, by its name. The shell tools are not in this table: `shellCommand` of the events knows them. */
export function toolCategory(name: string): ToolCategory {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return TOOL_CATEGORIES.find((category) => TOOLS[category].some((tool) => tool === plain)) ?? 'unknown';
}

const PATH_KEYS = ['file_path', 'filePath', 'absolute_path', 'notebook_path', 'path', 'file'] as const;
const PATCH_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

/** The paths that a call names, in one of the keys for paths or in the headings of a patch. */
export function pathsIn(input: JsonValue): string[] {
  const named = textsAt(input, PATH_KEYS);
  if (named.length > 0) return named;
  const patches = typeof input === 'string' ? [input] : textsAt(input, ['patch', 'input']);
  return patches.flatMap((patch) => [...patch.matchAll(PATCH_FILE)].map(([, path = '']) => path));
}

/** The texts at these keys of an object. */
export const textsAt = (input: JsonValue, keys: readonly string[]): string[] =>
  keys.flatMap((key) => textIn(objectIn(input)?.[key]) ?? []);
