import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Files that can be made again: `$XDG_CACHE_HOME/whetstone`, else `~/.cache/whetstone`. XDG ignores relative paths. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: cache = '' } = environment;
  return join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'whetstone');
}
