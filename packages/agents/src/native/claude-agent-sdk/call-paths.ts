import { join, resolve } from 'node:path';
import type { JsonObject } from '@whetstone/events';
import { textIn } from '../../kit/fields.ts';

/** The inputs of Claude Code's tools that hold a path. */
const PATH_INPUTS = ['file_path', 'notebook_path', 'path'];

/** The paths that a call of a file tool names, as it names them; the workspace, if it names none. */
export function pathsOfCall(tool: string, input: JsonObject, { home }: { home: string }): string[] {
  const withHome = (path: string): string => (/^~(?:\/|$)/.test(path) ? join(home, path.slice(1)) : path);
  const named = PATH_INPUTS.flatMap((name) => textIn(input[name]) ?? []).map(withHome);
  const [folder = '.'] = named;
  const pattern = tool === 'Glob' ? textIn(input.pattern) : undefined;
  if (pattern === undefined) return named.length > 0 ? named : [folder];
  // A pattern may begin anywhere: `/etc/*`, `../**`.
  const [beginning = ''] = pattern.split(/[*?{[]/, 1);
  const start = withHome(beginning);
  return [folder, start.startsWith('/') ? resolve(start) : join(folder, start)];
}
