import type { AgentMetadata, StreamEvent } from '@whetstone/events';
import { deriveAgentMetadata } from '@whetstone/events/reading';
import {
  pathsIn,
  TOOL_CATEGORIES,
  type ToolCategory,
  textsAt,
  toolCategory,
} from '../../kit/tool-category.ts';

/** Counts of what an agent did, in the shape that assertions in an `EVAL.ts` read. */
export type Observability = {
  /** Messages of the agent, without those of its sub-agents. */
  totalTurns: number;
  toolCalls: Record<ToolCategory, number>;
  totalToolCalls: number;
  webFetches: { url: string; success?: boolean }[];
  /** Each path once, as the agent wrote it. */
  filesRead: string[];
  filesModified: string[];
  /** `success` is absent when no result was seen. */
  shellCommands: { command: string; exitCode?: number; success?: boolean }[];
  errors: string[];
  thinkingBlocks: number;
};

/** Pure. Tool calls and files of sub-agents count; their messages do not count as turns. */
export function deriveObservability(events: readonly StreamEvent[]): Observability {
  const metadata = deriveAgentMetadata(events);
  const commands = new Set(metadata.commands.map(({ callId }) => callId));
  const delegations = new Set(
    events.flatMap((event) => (event.type === 'subagent.called' ? [event.callId] : [])),
  );
  const calls = metadata.tools.map((tool) => ({ tool, category: categoryOf(tool, commands, delegations) }));
  // Changes that no tool call made.
  const called = new Set(metadata.tools.map(({ callId }) => callId));
  const others = [...delegations].filter((callId) => !called.has(callId)).length;
  const toolCalls = Object.fromEntries(TOOL_CATEGORIES.map((name) => [name, 0])) as Record<
    ToolCategory,
    number
  >;
  for (const { category } of calls) toolCalls[category] += 1;
  toolCalls.agent_task += others;

  const pathsOf = (...wanted: ToolCategory[]) =>
    calls
      .filter(({ category }) => wanted.includes(category))
      .flatMap(({ tool: { input } }) => pathsIn(input));
  const changed = metadata.fileChanges.map(({ path }) => path);
  return {
    totalTurns: events.filter((event) => isOwnMessage(event)).length,
    toolCalls,
    totalToolCalls: calls.length + others,
    webFetches: calls
      .filter(({ category }) => category === 'web_fetch')
      .flatMap(({ tool }) => textsAt(tool.input, ['url']).map((url) => ({ url, ...successOf(tool.status) }))),
    filesRead: [...new Set(pathsOf('file_read'))],
    filesModified: [...new Set([...pathsOf('file_write', 'file_edit'), ...changed])],
    shellCommands: metadata.commands.map(shellCommand),
    errors: metadata.errors,
    thinkingBlocks: events.filter(({ type }) => type === 'thinking').length,
  };
}

function isOwnMessage(event: StreamEvent): boolean {
  return event.type === 'message' && event.role === 'assistant' && event.parentCallId === undefined;
}

function categoryOf(
  { callId, name }: AgentMetadata['tools'][number],
  commands: ReadonlySet<string>,
  delegations: ReadonlySet<string>,
): ToolCategory {
  if (commands.has(callId)) return 'shell';
  if (delegations.has(callId)) return 'agent_task';
  return toolCategory(name);
}

function shellCommand({ command, exitCode, status }: AgentMetadata['commands'][number]) {
  if (exitCode !== undefined) return { command, exitCode, success: exitCode === 0 };
  return { command, ...successOf(status) };
}

function successOf(status: AgentMetadata['tools'][number]['status']): { success?: boolean } {
  return status === 'pending' ? {} : { success: status === 'completed' };
}
