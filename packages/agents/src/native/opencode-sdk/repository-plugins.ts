import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FILES = '.opencode/{plugin,plugins,tool,tools}/*.{ts,js}';
const SETTINGS = '{,.opencode/}opencode.{json,jsonc}';

/**
 * The files by which a repository gives OpenCode code to run, from a folder up to its root. OpenCode 1.18 loads the plugins
 * of a repository even with `OPENCODE_DISABLE_PROJECT_CONFIG`. `settings`: also settings that name no plugin, which can
 * start programs and send a key elsewhere.
 */
export function repositoryPlugins(folder: string, kind: 'plugins' | 'settings' = 'plugins'): string[] {
  const found = [
    ...globSync(FILES, { cwd: folder }),
    ...globSync(SETTINGS, { cwd: folder }).filter(
      (file) => kind === 'settings' || mayNamePlugins(join(folder, file)),
    ),
  ].map((file) => join(folder, file));
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, '.git'))
    ? found
    : [...found, ...repositoryPlugins(above, kind)];
}

/** The settings may have comments, and a name may be written with escapes. */
const mayNamePlugins = (file: string): boolean => /plugin|\\u/i.test(readFileSync(file, 'utf8'));
