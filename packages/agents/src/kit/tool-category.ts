import type { JsonValue } from '@whetstone/events';
import { objectIn, objectsIn, textIn } from './fields.ts';

/** Tool names of the known agents, in lower case and without separators. The metadata already knows the shell tools. */
const TOOLS = {
  file_read: ['read', 'readfile', 'readmanyfiles', 'view', 'viewimage', 'notebookread', 'fsread'],
  file_write: ['write', 'writefile', 'create', 'createfile', 'fswrite'],
  file_edit: [
    ...['edit', 'editfile', 'multiedit', 'notebookedit', 'replace'],
    ...['applypatch', 'patch', 'filechange', 'strreplace', 'fsedit'],
  ],
  shell: [],
  web_fetch: ['webfetch', 'fetch'],
  web_search: ['websearch', 'googlewebsearch'],
  glob: ['glob', 'find', 'findfiles'],
  grep: ['grep', 'searchfilecontent', 'greptool', 'search'],
  list_dir: ['ls', 'list', 'listdir', 'listdirectory'],
  agent_task: ['task', 'agent', 'spawnagent', 'invokeagent', 'subagent'],
  unknown: [],
} as const satisfies Record<string, readonly string[]>;

export type ToolCategory = keyof typeof TOOLS;
export const TOOL_CATEGORIES = Object.keys(TOOLS) as readonly ToolCategory[];

/** What a tool does, by its name. The shell tools are not in this table: `shellCommand` of the events knows them. */
export function toolCategory(name: string): ToolCategory {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return TOOL_CATEGORIES.find((category) => TOOLS[category].some((tool) => tool === plain)) ?? 'unknown';
}

const PATH_KEYS = [
  ...['file_path', 'filePath', 'fileName', 'absolute_path', 'notebook_path', 'path', 'file'],
] as const;
const PATCH_FILE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

/** The paths that a call names: in a key for a path, in a list of paths or changes, or in the headings of a patch. */
export function pathsIn(input: JsonValue): string[] {
  const { paths, changes } = objectIn(input) ?? {};
  const listed = [
    ...(Array.isArray(paths) ? paths.flatMap((path) => textIn(path) ?? []) : []),
    ...objectsIn(changes).flatMap(({ path }) => textIn(path) ?? []),
  ];
  const named = [...textsAt(input, PATH_KEYS), ...listed];
  if (named.length > 0) return named;
  const patches = typeof input === 'string' ? [input] : textsAt(input, ['patch', 'patchText', 'input']);
  return patches.flatMap((patch) => [...patch.matchAll(PATCH_FILE)].map(([, path = '']) => path));
}

/** The texts at these keys of an object. */
export const textsAt = (input: JsonValue, keys: readonly string[]): string[] =>
  keys.flatMap((key) => textIn(objectIn(input)?.[key]) ?? []);
