import { join } from 'node:path';
import { codexCli } from '../codex-cli/codex-cli.ts';
import type { Launch } from '../native-agent.ts';
import { confiningArgs } from './confinement.ts';
import { leadTurn } from './lead-turn.ts';
import type { AppServerOptions } from './options.ts';
import { tracing } from './trace.ts';

/**
 * Codex has no sandbox when its own folder is below the temporary one. It names the temporary folder in its prompt as
 * well, where a replay knows it again because it is in the home.
 */
const TEMPORARY = '.cache/tmp';

export const launch: Launch = {
  // One installation and one configuration file with `codex exec`; the rest is said in each thread and turn.
  settings(connection) {
    const { files, env, args = [] } = codexCli.launch.settings(connection);
    const { trace } = (connection.options ?? {}) as AppServerOptions;
    const traced = trace && tracing(trace.endpoint);
    return {
      files: { ...files, [`${TEMPORARY}/README`]: 'The temporary files of a case.\n' },
      env: { ...env, TMPDIR: join(connection.home, TEMPORARY), ...traced?.env },
      args: [...args, ...confiningArgs(connection.permissions), ...(traced?.args ?? [])],
    };
  },
  turn: () => ['app-server'],
  dialogue: leadTurn,
  stays: (options) => (options as AppServerOptions).reuse_server === true,
};
