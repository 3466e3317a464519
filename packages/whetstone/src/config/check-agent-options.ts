import { type DriverAgentConfig, drivenAgentOf, driverProblems } from '@whetstone/agents/config';
import { checkMapping } from './check-shape.ts';
import type { Spot } from './spot.ts';

/** Reports permissions and rules that an agent cannot be held to, and options that its kind does not have. */
export function checkAgentOptions(config: DriverAgentConfig, spot: Spot): void {
  const { kind, driver } = config;
  const agent = drivenAgentOf(config);
  for (const { path, message, hint } of driverProblems(config, agent)) {
    spot.at(...path).error(message, { hint });
  }
  if (!driver.options) return;
  const at = spot.at('options');
  if (agent.options) checkMapping(agent.options.strict(), driver.options, at);
  else at.error(`${kind} has no options of its own`, { hint: 'remove it', mark: 'key' });
}
