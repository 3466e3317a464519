import { join } from 'node:path';

/** HOME and the XDG folders, so that all files that an agent keeps are below its own home. */
export const ownFolders = (home: string): Record<string, string> => ({
  HOME: home,
  XDG_CONFIG_HOME: join(home, '.config'),
  XDG_CACHE_HOME: join(home, '.cache'),
  XDG_DATA_HOME: join(home, '.local/share'),
  XDG_STATE_HOME: join(home, '.local/state'),
});
