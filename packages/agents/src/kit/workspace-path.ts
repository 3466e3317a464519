import { isAbsolute, relative } from 'node:path';
import { isUnder } from '@whetstone/sandbox';

/** The path for an event: relative if it is in the workspace, otherwise unchanged. */
export function workspacePath(path: string, workdir: string | undefined): string {
  return workdir !== undefined && isAbsolute(path) && isUnder(workdir, path) ? relative(workdir, path) : path;
}
