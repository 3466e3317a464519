import type { Agent } from '../agent.ts';
import { driveAdapter } from './drive-adapter.ts';

/** What is known of the agents that were made here. */
const hosted = new WeakMap<Agent, { readsAbove: readonly string[] }>();

/**
 * Marks an agent that enforces the time limit of a turn and emits each of its events by itself. `readsAbove`: what it
 * reads in the folders above its workspace.
 */
export function markHosted(agent: Agent, readsAbove: readonly string[] = []): Agent {
  hosted.set(agent, { readsAbove });
  return agent;
}

/** The files and folders that an agent reads above its workspace, as far as is known. */
export const placesAbove = (agent: Agent): readonly string[] => hosted.get(agent)?.readsAbove ?? [];

/** The agent as a host can drive it. An agent that is not marked is driven as an adapter. */
export function hostedAgent(agent: Agent): Agent {
  if (hosted.has(agent)) return agent;
  return {
    name: agent.name,
    capabilities: agent.capabilities,
    send: (input, context) => driveAdapter(agent, input, context),
  };
}
