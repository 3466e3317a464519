import type { JsonObject } from '@whetstone/events';
import { defineTool, type RegisteredTool } from './tool.ts';

export type PlanStep = { step: string; status: string };

/**
 * A tool with which the model tells its plan, whole at each call. Nothing is kept: the conversation has it, and the host
 * gets it as `details.plan`, a list of `{ step, status }`.
 */
export function createPlanTool<Args>(options: {
  name: string;
  description: string;
  parameters: JsonObject;
  steps: (args: Args) => PlanStep[];
  answer: string;
}): RegisteredTool {
  const { name, description, parameters, steps, answer } = options;
  return defineTool<Args>({
    definition: { name, description, parameters },
    exemptFromLoopDetection: true,
    guidance: 'for work of several steps; keep it up to date.',
    executor: (args) => ({ content: answer, details: { plan: steps(args) } }),
  });
}
