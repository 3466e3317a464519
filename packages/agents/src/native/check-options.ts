import { WhetstoneError } from '@whetstone/errors';
import type { DriverAgentConfig } from '../config.ts';
import { type PermissionProblem, permissionProblems } from '../policy/permissions.ts';
import { attachProblems } from './attached-server.ts';
import type { DrivenAgent } from './native-agent.ts';
import { enforcerOf } from './native-agents.ts';

/** Why a configuration asks a driven agent for what it cannot be held to, or cannot be given. */
export const driverProblems = (config: DriverAgentConfig, agent: DrivenAgent): PermissionProblem[] => [
  ...permissionProblems(config.kind, enforcerOf(agent, config.driver.options), config.driver),
  ...attachProblems(config),
];

/**
 * Refuses what a driven agent cannot be held to, and options that its kind does not have.
 *
 * @throws WhetstoneError `permission-unenforceable`, `agent-option-unknown`
 */
export function checkOptions(config: DriverAgentConfig, agent: DrivenAgent): void {
  const { name, kind, driver } = config;
  const [problem] = driverProblems(config, agent);
  if (problem) {
    const where = [name, ...problem.path].join('.');
    throw new WhetstoneError('permission-unenforceable', `${problem.message}.`, {
      where,
      hint: problem.hint,
    });
  }
  if (!driver.options) return;
  const where = `${name}.options`;
  if (!agent.options)
    throw new WhetstoneError('agent-option-unknown', `${kind} has no options of its own.`, { where });
  const { error } = agent.options.strict().safeParse(driver.options);
  const [issue] = error?.issues ?? [];
  if (!issue) return;
  const at = [where, ...issue.path].join('.');
  throw new WhetstoneError('agent-option-unknown', `${kind} cannot be given this option: ${issue.message}`, {
    where: at,
  });
}
