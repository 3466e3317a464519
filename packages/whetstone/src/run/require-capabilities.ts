import type { Agent, AgentCapabilities } from '@whetstone/agents';
import { WhetstoneError } from '@whetstone/errors';
import type { Config, TaskConfig } from '../config/config.ts';
import type { Plan } from '../plan/plan.ts';

/** The capability that a key of a task requires of an agent. */
const DEMANDS: readonly {
  key: string;
  isAsked: (task: TaskConfig) => boolean;
  capability: keyof AgentCapabilities;
  lack: string;
}[] = [
  {
    key: 'follow_ups',
    isAsked: ({ followUps }) => followUps !== undefined,
    capability: 'conversation',
    lack: 'cannot resume a session',
  },
  {
    key: 'output_schema',
    isAsked: ({ outputSchema }) => outputSchema !== undefined,
    capability: 'structuredOutput',
    lack: 'cannot be given an output schema',
  },
];

/**
 * Checks that every planned agent can do what every planned task requires. Modules declare their capabilities only when
 * they are loaded; other agents were checked with the configuration.
 * @throws WhetstoneError `agent-capability-missing`
 */
export function requireCapabilities(config: Config, plan: Plan, agents: ReadonlyMap<string, Agent>): void {
  const planned = new Set(plan.tasks.map(({ id }) => id));
  const tasks = config.tasks.filter(({ id }) => planned.has(id));
  requireForEvals(tasks, agents);
  for (const { key, isAsked, capability, lack } of DEMANDS) {
    const task = tasks.find(isAsked);
    // A module may be plain JavaScript without any declared capabilities.
    const unable = [...agents].find(([, agent]) => agent.capabilities?.[capability] !== true);
    if (!task || !unable) continue;
    const [name] = unable;
    const message = `Task ${task.id} has ${key}, and agent ${name} ${lack}.`;
    throw new WhetstoneError('agent-capability-missing', message, {
      where: `agents.${name}`,
      hint: `If the adapter can do it, declare \`capabilities: { ${capability}: true }\`. Otherwise choose other tasks or agents with --task-id and --agent.`,
    });
  }
}

/** What an eval requires of the agent, it says itself. */
function requireForEvals(tasks: readonly TaskConfig[], agents: ReadonlyMap<string, Agent>): void {
  for (const { id, eval: code } of tasks) {
    for (const [name, isRequired] of Object.entries(code?.requires ?? {})) {
      const capability = name as keyof AgentCapabilities;
      const unable = [...agents].find(([, agent]) => agent.capabilities?.[capability] !== true);
      if (!isRequired || !unable) continue;
      const message = `The eval ${id} requires the capability ${capability}, which agent ${unable[0]} does not have.`;
      throw new WhetstoneError('agent-capability-missing', message, {
        ...(code && { where: code.file }),
        hint: `If the adapter can do it, declare \`capabilities: { ${capability}: true }\`. Otherwise leave the eval out of the experiment.`,
      });
    }
  }
}
