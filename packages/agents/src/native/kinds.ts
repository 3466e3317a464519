/** Released coding agents that are a command line and that Whetstone drives itself, where no command is given. */
export const cliAgentKinds = [
  'codex-cli',
  'claude-code',
  'gemini-cli',
  'qwen-code',
  'opencode-cli',
  'pi',
  'copilot',
] as const;
export type CliAgentKind = (typeof cliAgentKinds)[number];

export const isCliKind = (kind: string): kind is CliAgentKind =>
  (cliAgentKinds as readonly string[]).includes(kind);

export const agentKinds = [...cliAgentKinds, 'traecli', 'coco', 'bub', 'custom', 'loop'] as const;
export type AgentKind = (typeof agentKinds)[number];
