import { codexCli } from '../codex-cli/codex-cli.ts';
import { ownTemporary } from '../codex-cli/own-temporary.ts';
import { tracing } from '../codex-cli/trace.ts';
import type { Launch } from '../native-agent.ts';
import { confiningArgs } from './confinement.ts';
import { leadTurn } from './lead-turn.ts';
import type { AppServerOptions } from './options.ts';

export const launch: Launch = {
  // One installation and one configuration file with `codex exec`; the rest is said in each thread and turn.
  settings(connection) {
    const { files, env, args = [] } = codexCli.launch.settings(connection);
    const { trace } = (connection.options ?? {}) as AppServerOptions;
    const traced = trace && tracing(trace.endpoint, 'codex-app-server');
    const temporary = ownTemporary(connection.home);
    return {
      files: { ...files, ...temporary.files },
      env: { ...env, ...temporary.env, ...traced?.env },
      args: [...args, ...confiningArgs(connection.permissions), ...(traced?.args ?? [])],
    };
  },
  turn: () => ['app-server'],
  dialogue: leadTurn,
  stays: (options) => (options as AppServerOptions).reuse_server === true,
};
