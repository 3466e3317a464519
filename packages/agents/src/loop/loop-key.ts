import { WhetstoneError } from '@whetstone/errors';
import type { LoopAgentConfig } from '../config.ts';
import { leadsToGateway } from '../kit/leads-to-gateway.ts';
import { loopDefaults } from './loop-defaults.ts';

/** The variable that holds the key of a loop's model. */
export const loopKeyVariable = ({ loop }: LoopAgentConfig): string =>
  loop.apiKeyEnv ?? loopDefaults[loop.profile].apiKeyEnv;

/**
 * The key of a loop's model, of the agent's own `env` before the user's. `undefined` where a lane has it.
 * @throws WhetstoneError `agent-key-missing`
 */
export function loopKey(
  config: LoopAgentConfig,
  env: Readonly<Record<string, string>>,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): string | undefined {
  const variable = loopKeyVariable(config);
  const key = env[variable] ?? user.environment[variable];
  if (key || (user.hasLanes && leadsToGateway(config))) return key;
  throw new WhetstoneError(
    'agent-key-missing',
    `Agent ${config.name} has no key for its model: ${variable} is not set.`,
    {
      where: `agents.${config.name}`,
      hint: `Set ${variable}, name another variable in \`api_key_env\`, or run against a gateway script.`,
    },
  );
}
