import { claudeCode } from './claude-code/launch.ts';
import { codexCli } from './codex-cli/launch.ts';
import { copilot } from './copilot/launch.ts';
import { geminiCli } from './gemini-cli/launch.ts';
import type { CliAgentKind } from './kinds.ts';
import type { CliAgent } from './native-agent.ts';
import { opencodeCli } from './opencode-cli/launch.ts';
import { pi } from './pi/launch.ts';
import { qwenCode } from './qwen-code/launch.ts';

/** Every released command line that can be driven, by its kind. */
export const cliAgents: Readonly<Record<CliAgentKind, CliAgent>> = {
  'codex-cli': codexCli,
  'claude-code': claudeCode,
  'gemini-cli': geminiCli,
  'qwen-code': qwenCode,
  'opencode-cli': opencodeCli,
  pi,
  copilot,
};
