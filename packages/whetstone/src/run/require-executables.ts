import { checkExecutables } from '../config/check-executables.ts';
import { ConfigErrors } from '../config/diagnostic.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { Selection } from '../plan/plan.ts';

/**
 * Refuses a run whose agents are not installed: it could only produce errors. Starts no process.
 * @throws ConfigErrors with a diagnostic for each agent whose program is not on the `PATH`.
 */
export async function requireExecutables(loaded: LoadedConfig, selection: Selection): Promise<void> {
  const { config, agentPath, diagnose } = loaded;
  const { agents = [] } = selection;
  const selected = {
    ...config,
    agents: config.agents.filter(({ name }) => agents.length === 0 || agents.includes(name)),
  };
  const checks = await checkExecutables({ config: selected, agentPath }, process.env);
  const missing = checks.flatMap((check) =>
    check.kind === 'missing'
      ? [
          diagnose('config', 'error', check.path, check.reason, {
            hint: 'install it, put it on the PATH, or give its full path; --agent selects the agents that are there',
          }),
        ]
      : [],
  );
  if (missing.length > 0) throw new ConfigErrors(missing);
}
