import { present } from '@whetstone/events/present';
import type { AgentConfig } from '../config.ts';
import { loopFacts, loopInstructions } from '../loop/loop-facts.ts';
import { attachedServer } from './attached-server.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import type { NativeAgent, NativeFacts } from './native-agent.ts';
import { nativeAgentOf, nativeAgents } from './native-agents.ts';

/** Where an agent looks for its instructions, skills, MCP servers and plugins. */
export type ContextPlaces = Pick<
  NativeFacts,
  'instructions' | 'reads' | 'imports' | 'readsBelow' | 'skills'
> & {
  /** Whether the agent can be given MCP servers. For commands and modules: the file below the agent's home. */
  mcpServers: boolean | { file: string };
  /** The folder of a plugin below the agent's home, with `NAME` for its name. Absent: the agent takes no plugins. */
  plugins?: string;
};

/**
 * Every file and folder that some agent may read in the folders above its workspace: what the released agents read there,
 * and the instructions of all agents, because nothing is known of a command or a module.
 */
export function placesReadAbove(): string[] {
  const all = Object.values<NativeAgent>(nativeAgents);
  return [...new Set(all.flatMap(({ facts }) => [facts.instructions, ...(facts.readsAbove ?? [])]))];
}

/**
 * The places of one agent. Whetstone knows them for the agents that it starts. For a command or a module, the user sets
 * them in `context`; by default, a command has the places in the home of the released agent of its kind. Most agents
 * agree on AGENTS.md (https://agents.md).
 */
export function contextPlacesOf(agent: AgentConfig): ContextPlaces {
  const native = (agent.runner === 'driver' ? drivenAgentOf(agent) : nativeAgentOf(agent.kind))?.facts;
  const facts = agent.runner === 'loop' ? loopFacts : native;
  if (native && attachedServer(agent) !== undefined) {
    const { instructions, reads, readsBelow } = native;
    return { instructions, mcpServers: false, ...present({ reads, readsBelow }) };
  }
  const {
    instructions = 'AGENTS.md',
    skills,
    mcpServers = false,
    plugins,
    imports,
    readsBelow,
  } = facts ?? {};
  const isBlind = agent.runner === 'driver' && native?.readsWorkspace?.(agent.driver.options ?? {}) === false;
  const reads = agent.runner === 'loop' ? loopInstructions[agent.loop.profile] : native?.reads;
  const known = isBlind ? present({ skills, reads: [] }) : present({ skills, reads, imports, readsBelow });
  if (agent.runner === 'loop' || agent.runner === 'driver') {
    return { instructions, mcpServers, ...known, ...present({ plugins: plugins?.folder }) };
  }
  const { mcpServers: file, ...context } = agent.context ?? {};
  const named = context.instructions === undefined ? {} : { reads: [{ path: context.instructions }] };
  return { instructions, ...known, ...named, ...context, mcpServers: file !== undefined && { file } };
}
