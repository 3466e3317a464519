import type { JsonObject, JsonValue, Usage } from '@whetstone/events';
import { objectIn, textIn, tokensIn } from '../../kit/fields.ts';
import type { ToolOutcome, ToolVocabulary } from '../claude-code/tool-calls.ts';

/** Qwen Code's tools, 0.24. */
export const qwenTools: ToolVocabulary = {
  shell: new Set(['run_shell_command']),
  subagent: new Set(['agent', 'task']),
  skill: new Set(['skill']),
  todos: new Set(['todo_write']),
  files: { write_file: 'file_path', edit: 'file_path', notebook_edit: 'notebook_path' },
};

/** The real call in a `tool_call`, which calls tools that are not offered from the start, such as MCP tools. */
export function unwrapCall(name: string, input: JsonValue): { name: string; input: JsonValue } {
  if (name !== 'tool_call') return { name, input };
  const { name: inner, arguments: fields = {} } = objectIn(input) ?? {};
  return typeof inner === 'string' ? { name: inner, input: fields } : { name, input };
}

/** Adds what the result's text says about the outcome. The patterns match the texts that Qwen Code gives its model. */
export function withText(outcome: ToolOutcome): ToolOutcome {
  const text = textIn(outcome.output) ?? '';
  const exitCode = /^Exit Code: (\d+)$/m.exec(text)?.[1];
  const isRefused = /^This ".+" invocation was denied by permission rules/.test(text);
  return {
    ...outcome,
    status: isRefused ? 'rejected' : outcome.status,
    // The stream leaves out the exit code of a successful command.
    exitCode: exitCode !== undefined ? Number(exitCode) : outcome.status === 'completed' ? 0 : undefined,
    isNewFile: /^(Successfully created and wrote to|Created) new file/.test(text),
    isLaunch: text.startsWith('Background agent launched'),
  };
}

/** Reads the usage of the stream, whose input tokens include the cached tokens. */
export function streamUsage(usage: JsonObject): Usage {
  const cached = tokensIn(usage.cache_read_input_tokens);
  return {
    inputTokens: Math.max(0, tokensIn(usage.input_tokens) - cached),
    outputTokens: tokensIn(usage.output_tokens),
    cacheReadTokens: cached,
  };
}
