import { present } from '@whetstone/events/present';
import type { AgentConfig } from '../config.ts';
import { type CliAgentKind, isCliKind } from './kinds.ts';

/** Where an agent looks for what a variant declares. */
export type ContextPlaces = {
  /** A file in the workspace, at its root. */
  instructions: string;
  /** A folder below the agent's home with a folder for each skill. Absent: the agent takes no skills from us. */
  skills?: string;
  /**
   * Whether it can be given MCP servers: how is in `CliAgent.settings`, and our loop connects them itself. For others a file
   * below the agent's home.
   */
  mcpServers: boolean | { file: string };
  /**
   * The folder of a plugin below the agent's home, `NAME` for its name. The agent looks there, or is told of it by
   * `CliAgent.settings`. Absent: the agent takes no plugins from us.
   */
  plugins?: string;
};

/** For agents that take the path of a plugin: a place that no agent looks into of its own accord. */
const TOLD = '.local/share/plugins/NAME';

/** Seen with the versions of `tested-versions.json`, on the wire (`run-context.agents.test.ts`). */
export const contextPlaces: Readonly<Record<CliAgentKind | 'loop', ContextPlaces>> = {
  'codex-cli': {
    instructions: 'AGENTS.md',
    skills: '.codex/skills',
    mcpServers: true,
    plugins: '.codex/plugins/cache/local/NAME/local',
  },
  'claude-code': { instructions: 'CLAUDE.md', skills: '.claude/skills', mcpServers: true, plugins: TOLD },
  'gemini-cli': {
    instructions: 'GEMINI.md',
    skills: '.gemini/skills',
    mcpServers: true,
    plugins: '.gemini/extensions/NAME',
  },
  'qwen-code': {
    instructions: 'QWEN.md',
    skills: '.qwen/skills',
    mcpServers: true,
    plugins: '.qwen/extensions/NAME',
  },
  'opencode-cli': {
    instructions: 'AGENTS.md',
    skills: '.config/opencode/skills',
    mcpServers: true,
    plugins: TOLD,
  },
  pi: { instructions: 'AGENTS.md', skills: '.pi/agent/skills', mcpServers: false, plugins: TOLD },
  copilot: { instructions: 'AGENTS.md', skills: '.copilot/skills', mcpServers: true, plugins: TOLD },
  loop: { instructions: 'AGENTS.md', skills: '.agents/skills', mcpServers: true },
};

/**
 * Of a command or a module nobody knows where it looks but the user, in `context`; with one of a known kind Whetstone
 * knows as much as its home, which is its own, gives away. Most agents agree on AGENTS.md (https://agents.md).
 */
export function contextPlacesOf({
  kind,
  cli,
  context = {},
}: Pick<AgentConfig, 'kind' | 'cli' | 'context'>): ContextPlaces {
  if (kind === 'loop' || (isCliKind(kind) && cli)) return contextPlaces[kind];
  const { instructions = 'AGENTS.md', skills } = isCliKind(kind) ? contextPlaces[kind] : {};
  const places = { instructions, ...present({ skills }), ...context };
  return { ...places, mcpServers: context.mcpServers !== undefined && { file: context.mcpServers } };
}
