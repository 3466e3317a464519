import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * The user's folder for files that Whetstone can make again: `$XDG_CACHE_HOME/whetstone`, by default `~/.cache/whetstone`
 * (XDG Base Directory Specification, which ignores relative paths).
 */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: cache = '' } = environment;
  return join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'whetstone');
}
