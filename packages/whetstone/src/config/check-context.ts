import type { AgentConfig } from '@whetstone/agents/config';
import { contextPlacesOf, manifestsOf } from '@whetstone/agents/config';
import type { VariantConfig } from './config.ts';
import type { Reporter } from './reporter.ts';

/** Every variant runs with every agent. Reports what an agent cannot be given, so that nothing is left out silently. */
export function checkContext(
  agents: readonly AgentConfig[],
  variants: readonly VariantConfig[],
  report: Reporter,
): void {
  for (const { name, skills, mcpServers, plugins } of variants) {
    const refused = (key: string, what: string, takes: (agent: AgentConfig) => boolean) => {
      const unable = agents.filter((agent) => !takes(agent));
      if (unable.length === 0) return;
      const named = unable.map((agent) => `${agent.name} (${formOf(agent)})`).join(', ');
      report.error(['variants', name, key], `${named} cannot be given ${what}`, {
        hint: `${unable.some(isForeign) && key !== 'plugins' ? placing(key) : ''}move such agents to a separate configuration, or remove the key`,
        mark: 'key',
      });
    };
    if (skills) refused('skills', 'skills', (agent) => contextPlacesOf(agent).skills !== undefined);
    if (mcpServers)
      refused('mcp_servers', 'MCP servers', (agent) => contextPlacesOf(agent).mcpServers !== false);
    if (plugins) refused('plugins', 'plugins', takesPlugins);
    for (const [index, { kinds }] of (plugins ?? []).entries()) {
      for (const agent of agents.filter(takesPlugins)) {
        if (agent.runner !== 'driver' || kinds.includes(agent.kind)) continue;
        report.error(
          ['variants', name, 'plugins', index],
          `has no manifest for ${agent.name} (${formOf(agent)}), so that agent would not load it`,
          { hint: `add ${manifestsOf(agent.kind)}` },
        );
      }
    }
  }
}

const placing = (key: string): string =>
  `set \`context: { ${key}: … }\` of the agent to the place where it looks, `;

const isForeign = ({ runner }: AgentConfig): boolean => runner === 'command' || runner === 'module';

const takesPlugins = (agent: AgentConfig): boolean => contextPlacesOf(agent).plugins !== undefined;

/** How diagnostics describe an agent: its kind, and whether it is a command or a module. */
export const formOf = (agent: AgentConfig): string =>
  `kind: ${agent.kind}${isForeign(agent) ? ` with a ${agent.runner}` : ''}`;
