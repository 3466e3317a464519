import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { withDotEnv } from '../config/dot-env.ts';
import { isModule } from '../config/is-module.ts';
import type { LoadedConfig } from '../config/load-config.ts';

const NAMES = ['whetstone.yaml', 'context-eval.yaml', 'whetstone.config.ts'];

/** A config file, and where its `output_dir` starts if it is omitted. */
type FoundConfig = { file: string; cwd: string };

/**
 * The named config file, else the first of the usual names in the current directory or above it, up to the root of the
 * repository or the home folder. A config from above acts as if the command had been called beside it.
 */
export function findConfig(named: string | undefined, cwd = process.cwd()): FoundConfig {
  if (named !== undefined) return { file: resolve(cwd, named), cwd };
  const found = searched(cwd);
  if (found) return found;
  throw new WhetstoneError(
    'config-not-found',
    `There is no ${NAMES.join(', ').replace(/, (?=[^,]*$)/, ' or ')} in ${cwd} or above it.`,
    {
      hint: 'Write one with "whetstone init", or name yours with -c.',
    },
  );
}

/** Whether one of the usual names is here or above. */
export const hasConfig = (): boolean => searched(process.cwd()) !== undefined;

/** The config file that commands in a folder without one find above it; `undefined`: there is none. */
export const configAbove = (folder: string): string | undefined =>
  isLast(folder) ? undefined : searched(dirname(folder))?.file;

function searched(cwd: string): FoundConfig | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = NAMES.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined) return { file: found, cwd: folder };
    if (isLast(folder)) return undefined;
  }
}

/** Whether no config above a folder is one of its own: that of another repository, or of none. */
const isLast = (folder: string): boolean =>
  existsSync(join(folder, '.git')) || folder === homedir() || folder === dirname(folder);

/**
 * Loads a config that is named or found, and the environment with the `.env` beside it. `draft`: stdin has the text of the
 * config, as an editor shows it, in place of what the file has.
 */
export async function openConfig(
  options: { config?: string; tasks?: string; draft?: boolean },
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv } = { cwd: process.cwd(), env: process.env },
): Promise<{ loaded: LoadedConfig; environment: NodeJS.ProcessEnv }> {
  const found = findConfig(options.config, cwd);
  const tasksFile = options.tasks === undefined ? undefined : resolve(cwd, options.tasks);
  const environment = await withDotEnv(dirname(found.file), env);
  if (isModule(found.file) || (tasksFile && isModule(tasksFile))) {
    // Code may read the variables, and imports `whetstone`.
    Object.assign(process.env, environment);
    const { resolveWhetstone } = await import('../eval/resolve-whetstone.ts');
    await resolveWhetstone();
  }
  const draft = options.draft ? await text(process.stdin) : undefined;
  // Only here: it loads what every agent may be given, and many commands have no config to read.
  const { loadConfig } = await import('../config/load-config.ts');
  const loaded = await loadConfig(found.file, { cwd: found.cwd, ...present({ tasksFile, draft }) });
  return { loaded, environment };
}
