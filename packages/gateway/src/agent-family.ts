import type { IncomingHttpHeaders } from 'node:http';
import type { OfferedTool } from './wire/neutral.ts';

export const agentFamilies = [
  'codex',
  'claude-code',
  'gemini-cli',
  'qwen-code',
  'opencode',
  'pi',
  'copilot',
  'whetstone-loop',
  'unknown',
] as const;

/** Which agent sent a request, as far as the request shows. The client claims it; nothing proves it. */
export type AgentFamily = (typeof agentFamilies)[number];

const clientNames: readonly [RegExp, AgentFamily][] = [
  [/codex/i, 'codex'],
  [/claude-cli|claude-code/i, 'claude-code'],
  [/gemini-?cli/i, 'gemini-cli'],
  [/qwen-?code/i, 'qwen-code'],
  [/opencode/i, 'opencode'],
  [/copilot/i, 'copilot'],
  [/\bpi(-coding-agent)?\//i, 'pi'],
];

/** Sets of tools that only one agent offers, the surest first. */
const toolSets: readonly [readonly string[], AgentFamily][] = [
  [['exec_command', 'write_stdin'], 'codex'],
  [['Bash', 'Read', 'Edit'], 'claude-code'],
  [['run_shell_command', 'replace'], 'gemini-cli'],
  [['run_shell_command', 'edit'], 'qwen-code'],
  [['bash', 'view', 'create'], 'copilot'],
  // With models that edit by patch it has no tool that creates files.
  [['bash', 'read_bash', 'view'], 'copilot'],
  [['bash', 'read', 'edit', 'write', 'webfetch'], 'opencode'],
  [['bash', 'read', 'edit', 'write', 'todowrite'], 'opencode'],
  [['bash', 'read', 'edit', 'write'], 'pi'],
];

/** Decides by the client's own name, then by the tools that it offers. */
export function agentFamily(headers: IncomingHttpHeaders, tools: readonly OfferedTool[] = []): AgentFamily {
  if (headers['x-whetstone-agent'] === 'loop') return 'whetstone-loop';
  const client = `${headers['user-agent'] ?? ''} ${headers.originator ?? ''}`;
  const named = clientNames.find(([pattern]) => pattern.test(client));
  if (named) return named[1];
  const offered = new Set(tools.map((tool) => tool.name));
  return toolSets.find(([names]) => names.every((name) => offered.has(name)))?.[1] ?? 'unknown';
}
