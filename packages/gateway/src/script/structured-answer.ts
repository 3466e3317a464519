import type { NeutralToolCall, OfferedTool } from '../wire/neutral.ts';
import type { ScriptStep } from './script.ts';

/** Under which names agents offer a tool for an answer of a schema: Claude Code, Qwen Code. */
const toolNames: readonly string[] = ['StructuredOutput', 'structured_output'];

/** Says the `data` of a step as the request wants it: by the tool made for it, else as text. */
export function structuredAnswer({ data, ...step }: ScriptStep, tools: readonly OfferedTool[]): ScriptStep {
  if (data === undefined) return step;
  const tool = tools.find(({ name, kind }) => kind === 'function' && toolNames.includes(name));
  return tool
    ? { ...step, calls: [{ tool: 'native', name: tool.name, input: data }] }
    : { ...step, text: JSON.stringify(data) };
}

/** Whether a call is the answer itself, with which its turn ends. */
export const isAnswer = ({ name }: NeutralToolCall): boolean => toolNames.includes(name);
