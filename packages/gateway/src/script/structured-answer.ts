import type { NeutralToolCall, OfferedTool } from '../wire/neutral.ts';
import type { ScriptStep } from './script.ts';

/** The names of the tools that agents offer for an answer with a schema: Claude Code, Qwen Code. */
const toolNames: readonly string[] = ['StructuredOutput', 'structured_output'];

/** Gives the `data` of a step as the request wants it: through the tool for it, or as text. */
export function structuredAnswer({ data, ...step }: ScriptStep, tools: readonly OfferedTool[]): ScriptStep {
  if (data === undefined) return step;
  const tool = tools.find(({ name, kind }) => kind === 'function' && toolNames.includes(name));
  return tool
    ? { ...step, calls: [{ tool: 'native', name: tool.name, input: data }] }
    : { ...step, text: JSON.stringify(data) };
}

/** Whether a call is the final answer, which ends its turn. */
export const isAnswer = ({ name }: NeutralToolCall): boolean => toolNames.includes(name);
