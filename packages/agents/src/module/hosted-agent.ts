import type { Agent } from '../agent.ts';
import { driveAdapter } from './drive-adapter.ts';

const hosted = new WeakSet<Agent>();

/** Marks an agent that enforces the time limit of a turn and emits each of its events by itself. */
export function markHosted(agent: Agent): Agent {
  hosted.add(agent);
  return agent;
}

/** The agent as a host can drive it. An agent that is not marked is driven as an adapter. */
export function hostedAgent(agent: Agent): Agent {
  if (hosted.has(agent)) return agent;
  return {
    name: agent.name,
    capabilities: agent.capabilities,
    send: (input, context) => driveAdapter(agent, input, context),
  };
}
