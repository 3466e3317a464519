import type { Agent } from '@whetstone/agents';
import type { Config } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';

/**
 * Whether any case of a plan works on files: all but the evals of agents in our process that have no workspace. A judge
 * that is an agent has a sandbox of its own.
 */
export function needsWorkplace(config: Config, plan: Plan, agents: ReadonlyMap<string, Agent>): boolean {
  const planned = new Set(plan.tasks.map(({ id }) => id));
  return (
    config.judge?.agent !== undefined ||
    config.tasks.some((task) => planned.has(task.id) && !task.eval) ||
    inPlan(config.agents, plan.agents).some(
      ({ name, runner }) => runner !== 'module' || agents.get(name)?.capabilities?.workspace === true,
    )
  );
}
