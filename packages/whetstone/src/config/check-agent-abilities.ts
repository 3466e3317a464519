import {
  type AgentConfig,
  contextPlacesOf,
  drivenAgentOf,
  manifestsOf,
  resumeCommandOf,
  takesOutputSchema,
} from '@whetstone/agents/config';
import type { TaskConfig, VariantConfig } from './config.ts';
import type { Spot } from './spot.ts';

/** Every variant runs with every agent. Reports what an agent cannot be given, so that nothing is left out silently. */
export function checkContext(
  agents: readonly AgentConfig[],
  variants: readonly VariantConfig[],
  root: Spot,
): void {
  for (const { name, instructions, skills, mcpServers, plugins } of variants) {
    const spot = root.at('variants', name);
    const refuse = (key: string, what: string, takes: (agent: AgentConfig) => boolean) =>
      refuseUnable(agents, takes, spot.at(key), `cannot be given ${what}`, (unable) => {
        const placing =
          key !== 'plugins' && unable.some(isForeign)
            ? `set \`context: { ${key}: … }\` of the agent to the place where it looks, `
            : '';
        return `${placing}move such agents to a separate configuration, or remove the key`;
      });
    if (instructions) {
      const reads = (agent: AgentConfig) => contextPlacesOf(agent).reads?.length !== 0;
      const hint = 'its page names the option with which it does: docs/agents';
      refuseUnable(
        agents,
        reads,
        spot.at('instructions'),
        'reads no instructions in its workspace',
        () => hint,
      );
    }
    if (skills) refuse('skills', 'skills', (agent) => contextPlacesOf(agent).skills !== undefined);
    if (mcpServers)
      refuse('mcp_servers', 'MCP servers', (agent) => contextPlacesOf(agent).mcpServers !== false);
    if (plugins) refuse('plugins', 'plugins', takesPlugins);
    for (const [index, { kinds }] of (plugins ?? []).entries()) {
      for (const agent of agents.filter(takesPlugins)) {
        if (agent.runner !== 'driver') continue;
        const { kind } = drivenAgentOf(agent);
        if (kinds.includes(kind)) continue;
        const message = `has no manifest for ${nameAndForm(agent)}, so that agent would not load it`;
        spot.at('plugins', index).error(message, { hint: `add ${manifestsOf(kind)}` });
      }
    }
  }
}

/** Reports agents that cannot do what a task asks. Modules are checked once loaded. `spot`: of the task. */
export function checkTaskDemands(
  { outputSchema, followUps }: TaskConfig,
  agents: readonly AgentConfig[],
  spot: Spot,
): void {
  if (outputSchema) {
    const hint =
      'move such agents to a separate configuration, or let the task ask for a file and check that file';
    const at = spot.at('output_schema');
    refuseUnable(agents, takesOutputSchema, at, 'cannot be given an output schema', () => hint);
  }
  if (followUps) {
    const canResume = (agent: AgentConfig) => agent.runner !== 'command' || resumeCommandOf(agent);
    const hint = 'add {session_id} to its command, or add a resume_command';
    refuseUnable(agents, canResume, spot.at('follow_ups'), 'cannot resume a session', () => hint);
  }
}

function refuseUnable(
  agents: readonly AgentConfig[],
  isAble: (agent: AgentConfig) => unknown,
  spot: Spot,
  lack: string,
  hintFor: (unable: AgentConfig[]) => string,
): void {
  const unable = agents.filter((agent) => !isAble(agent));
  if (unable.length === 0) return;
  const hint = hintFor(unable);
  spot.error(`${unable.map(nameAndForm).join(', ')} ${lack}`, { hint, mark: 'key' });
}

const isForeign = ({ runner }: AgentConfig): boolean => runner === 'command' || runner === 'module';

const takesPlugins = (agent: AgentConfig): boolean => contextPlacesOf(agent).plugins !== undefined;

/** How diagnostics name an agent: with its kind, and whether it is a command or a module. */
const nameAndForm = (agent: AgentConfig): string =>
  `${agent.name} (kind: ${agent.kind}${isForeign(agent) ? ` with a ${agent.runner}` : ''})`;
