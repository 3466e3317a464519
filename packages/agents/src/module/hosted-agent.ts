import type { Agent } from '../agent.ts';
import { driveAdapter } from './drive-adapter.ts';

const hosted = new WeakSet<Agent>();

/** Marks an agent that keeps the time limit of a turn itself, and emits each of its events itself. */
export function markHosted(agent: Agent): Agent {
  hosted.add(agent);
  return agent;
}

/** The agent as a host may drive it: one that somebody else defined is driven as an adapter. */
export function hostedAgent(agent: Agent): Agent {
  if (hosted.has(agent)) return agent;
  return {
    name: agent.name,
    capabilities: agent.capabilities,
    send: (input, context) => driveAdapter(agent, input, context),
  };
}
