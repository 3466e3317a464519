import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Where Whetstone keeps what is the user's own and can be made again: `$XDG_CACHE_HOME/whetstone`, by default
 * `~/.cache/whetstone` (XDG Base Directory Specification, which ignores relative paths).
 */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: cache = '' } = environment;
  return join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'whetstone');
}
