import { expect, test } from 'vitest';
import { agentFamily } from './agent-family.ts';

const tools = (...names: string[]) => names.map((name) => ({ name, kind: 'function' as const }));

test.each([
  [{ 'user-agent': 'codex_exec/0.169.0 (Debian 13)' }, 'codex'],
  [{ 'user-agent': 'x', originator: 'codex_cli_rs' }, 'codex'],
  [{ 'user-agent': 'claude-cli/2.1.330 (external, sdk-ts)' }, 'claude-code'],
  [{ 'user-agent': 'GeminiCLI/0.61.0/gemini-2.5-pro (linux; x64)' }, 'gemini-cli'],
  [{ 'user-agent': 'QwenCode/0.24.4 (linux; x64)' }, 'qwen-code'],
  [{ 'user-agent': 'opencode/1.18.33' }, 'opencode'],
  [{ 'user-agent': 'ai-sdk/openai/4', 'x-whetstone-agent': 'loop' }, 'whetstone-loop'],
  [{ 'user-agent': 'curl/8.0 (api/1)' }, 'unknown'],
  [{}, 'unknown'],
])('a client is known by its own name: %j is %s', (headers, family) => {
  expect(agentFamily(headers)).toBe(family);
});

test.each([
  [tools('read', 'bash', 'edit', 'write'), 'pi'],
  [tools('bash', 'edit', 'glob', 'read', 'todowrite', 'webfetch', 'write'), 'opencode'],
  [tools('exec_command', 'write_stdin', 'apply_patch'), 'codex'],
  [tools('Bash', 'Edit', 'Read'), 'claude-code'],
  [tools('run_shell_command', 'replace', 'read_file'), 'gemini-cli'],
  [tools('run_shell_command', 'edit', 'read_file'), 'qwen-code'],
  [tools('bash', 'view', 'create', 'edit'), 'copilot'],
  [tools('bash', 'read_bash', 'view', 'apply_patch'), 'copilot'],
  [tools('shell'), 'unknown'],
])('a client is known by the tools that it offers', (offered, family) => {
  expect(agentFamily({ 'user-agent': 'OpenAI/JS 7' }, offered)).toBe(family);
});
