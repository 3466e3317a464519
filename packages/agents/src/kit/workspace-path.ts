import { isAbsolute, relative } from 'node:path';
import { isUnder } from '@whetstone/sandbox';

/** A path of an event: relative where it lies below the workspace, as the agent gave it elsewhere. */
export function workspacePath(path: string, workdir: string | undefined): string {
  return workdir !== undefined && isAbsolute(path) && isUnder(workdir, path) ? relative(workdir, path) : path;
}
