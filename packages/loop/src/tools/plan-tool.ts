import { type BuiltInTool, builtInTool } from './built-in-tool.ts';
import type { Arguments, Parameters } from './parameters.ts';
import type { RegisteredTool } from './tool.ts';

/** A tool with which the model reports its whole plan. The host gets it as `details.plan`; nothing is kept. */
export function createPlanTool<P extends Parameters>({
  steps,
  answer,
  ...tool
}: Pick<BuiltInTool<P>, 'name' | 'description' | 'parameters' | 'keywords'> & {
  steps: (args: Arguments<P>) => { step: string; status: string }[];
  answer: string;
}): RegisteredTool {
  return builtInTool({
    ...tool,
    exemptFromLoopDetection: true,
    guidance: 'for work of several steps; keep it up to date.',
    executor: (args) => ({ content: answer, details: { plan: steps(args) } }),
  });
}
