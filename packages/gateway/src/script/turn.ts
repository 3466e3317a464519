import type { NeutralMessage, NeutralToolCall } from '../wire/neutral.ts';
import { isAnswer } from './structured-answer.ts';

type ScriptTurn = {
  /** How many model replies the turn already has. */
  step: number;
  messages: NeutralMessage[];
};

/**
 * The turn that a request is about. A turn ends when a user message follows a reply without tool calls, or an answer
 * through a tool of its own; the next turn begins there. So a user message between rounds of tool calls (steering, a
 * reminder) belongs to the turn in progress and does not restart the script. What an agent puts before its prompt
 * (environment, project instructions) does not count, because only replies count.
 */
export function currentTurn(messages: readonly NeutralMessage[]): ScriptTurn {
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const lastAnswer = messages.findLastIndex(
    (message, index) => index < lastUser && message.role === 'assistant' && endsTurn(message.toolCalls),
  );
  const after = messages.slice(lastAnswer + 1);
  // The result of the tool for an answer belongs to the answer.
  const turn = after[0]?.role === 'tool' ? after.slice(1) : after;
  return { step: turn.filter((message) => message.role === 'assistant').length, messages: turn };
}

const endsTurn = (calls: readonly NeutralToolCall[]): boolean => calls.length === 0 || calls.some(isAnswer);
