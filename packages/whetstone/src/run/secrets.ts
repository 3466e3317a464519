import { loopDefaults } from '../agents/loop-defaults.ts';
import type { Config } from '../config/config.ts';

/**
 * The values that must never be kept: what agents were given through `${NAME}`, and the keys that a loop agent reads
 * from the user's environment.
 */
export function configuredSecrets(config: Config, environment: NodeJS.ProcessEnv): string[] {
  const names = config.agents.flatMap((agent) => [
    ...Object.values(agent.env).flatMap((value) =>
      [...value.matchAll(/\$\{(\w+)\}/g)].flatMap((match) => match[1] ?? []),
    ),
    ...(agent.loop ? [agent.loop.apiKeyEnv ?? loopDefaults[agent.loop.profile].apiKeyEnv] : []),
  ]);
  return [...new Set(names)].flatMap((name) => environment[name] ?? []);
}
