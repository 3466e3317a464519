import { defineTool, type RegisteredTool } from './tools/tool.ts';
import type { Input, Part } from './turn.ts';

export type Question = { callId: string; question: string; options: readonly string[] };

/** A tool by which the model asks the user. `ask` resolves with the answer and rejects when the signal aborts. */
export function createAskUserTool(
  ask: (question: Question, signal: AbortSignal) => Promise<Input>,
): RegisteredTool {
  return defineTool<{ question: string; options?: string[] }>({
    definition: {
      name: 'ask_user',
      description:
        'Ask the user a question and wait for the answer. Only for what you cannot find out or decide yourself.',
      parameters: {
        type: 'object',
        properties: {
          question: {
            type: 'string',
            description: 'One question, with what the user has to know to answer it.',
          },
          options: {
            type: 'array',
            items: { type: 'string' },
            description: 'Answers to choose from; others are possible.',
          },
        },
        required: ['question'],
      },
    },
    exemptFromLoopDetection: true,
    executor: async ({ question, options = [] }, { callId, signal }) => {
      const answer = await ask({ callId, question, options }, signal);
      return typeof answer === 'string' ? answer : { content: answer.map((part): Part => part) };
    },
  });
}
