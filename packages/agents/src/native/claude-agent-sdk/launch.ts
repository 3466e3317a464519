import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { sdkDialogue, staysOpen } from '../../kit/sdk-dialogue.ts';
import { sdkItems } from '../../kit/sdk-items.ts';
import { launch as cli, MCP_FILE, NO_SERVERS_OF_REPOSITORY } from '../claude-code/launch.ts';
import type { DialogueTurn, Launch } from '../native-agent.ts';
import type { ClaudeSdkRequest } from './bridge.ts';
import { decideCall } from './decide-call.ts';
import type { ClaudeSdkOptions } from './options.ts';

export const launch: Launch = {
  // The SDK starts Claude Code, which reads the same variables and files; its arguments follow from the request.
  settings: (connection) => ({ ...cli.settings(connection), args: [] }),
  turn: () => [],
  stays: staysOpen,
  dialogue: sdkDialogue(async (turn) => {
    const request: ClaudeSdkRequest = {
      items: await sdkItems(turn.input, turn.workingDirectory, turn.connection.place),
      options: optionsOf(turn),
    };
    const free = freeFolders(turn);
    return { request, answer: (question) => decideCall(question, free, turn) };
  }),
};

/**
 * What may be read without a question: what Claude Code keeps in its home for its tools, but not the login beside it, and
 * what the configuration names.
 */
function freeFolders({ connection, options }: DialogueTurn): string[] {
  const { additional_directories: additional = [] } = options as ClaudeSdkOptions;
  const inHome = ['.claude/skills', '.claude/projects', '.claude/plans', '.cache/claude-tmp'];
  const plugins = connection.plugins?.map(({ folder }) => folder) ?? [];
  return [...additional, ...plugins, ...inHome.map((path) => join(connection.home, path))];
}

/** Tools that reach the network by themselves, and those that run commands. */
const NETWORK_TOOLS = ['WebFetch', 'WebSearch'];
const SHELL_TOOLS = ['Bash', 'Monitor'];

function optionsOf({ input, model, resume, permissions, connection, ...turn }: DialogueTurn) {
  const options = turn.options as ClaudeSdkOptions;
  const { plugins = [], mcpServers = [] } = connection;
  const hasServers = mcpServers.length > 0;
  const sources = options.setting_sources ?? [];
  const session = resume ?? options.resume;
  return present({
    model,
    // The SDK itself would write the servers into the arguments, which every process of the machine can read.
    extraArgs: hasServers ? { 'mcp-config': join(connection.home, MCP_FILE) } : undefined,
    ...(plugins.length > 0 ? { managedSettings: NO_SERVERS_OF_REPOSITORY } : { strictMcpConfig: true }),
    plugins: plugins.map(({ folder }) => ({ type: 'local', path: folder })),
    settingSources: ['user', ...sources],
    // The hooks of a repository run outside every permission.
    settings: sources.length > 0 ? { disableAllHooks: true } : undefined,
    permissionMode: options.permission_mode ?? 'default',
    planModeInstructions: options.plan_mode_instructions,
    systemPrompt: systemPromptOf(options),
    tools: options.tools,
    disallowedTools: [
      ...(options.disallowed_tools ?? []),
      ...(permissions.network === 'off' ? NETWORK_TOOLS : []),
      ...(permissions.shell === 'off' ? SHELL_TOOLS : []),
    ],
    additionalDirectories: options.additional_directories,
    agents: options.agents,
    agent: options.agent,
    maxTurns: options.max_turns,
    maxBudgetUsd: options.max_budget_usd,
    taskBudget: options.task_budget_tokens && { total: options.task_budget_tokens },
    effort: options.effort,
    thinking: thinkingOf(options),
    betas: options.betas,
    pathToClaudeCodeExecutable: options.claude_path,
    fallbackModel: options.fallback_model,
    includePartialMessages: options.include_partial_messages,
    outputFormat: input.outputSchema && { type: 'json_schema', schema: input.outputSchema },
    resume: session,
    forkSession: session === undefined ? undefined : options.fork_session,
    continue: session === undefined ? options.continue : undefined,
  });
}

function systemPromptOf({ system_prompt: given }: ClaudeSdkOptions) {
  if (typeof given !== 'object') return given;
  const { exclude_dynamic_sections: excludeDynamicSections, ...preset } = given;
  return present({ type: 'preset', ...preset, excludeDynamicSections });
}

function thinkingOf({ thinking: given }: ClaudeSdkOptions) {
  if (typeof given !== 'object') return given && { type: given };
  return { type: 'enabled', budgetTokens: given.budget_tokens };
}
