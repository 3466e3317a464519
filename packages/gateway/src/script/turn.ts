import type { NeutralMessage, NeutralToolCall } from '../wire/neutral.ts';
import { isAnswer } from './structured-answer.ts';

type Turn = {
  /** Model replies already given in the turn. */
  step: number;
  messages: NeutralMessage[];
};

/**
 * The turn that a request is about. A turn ends with a reply without tool calls, or with an answer by a tool of its own,
 * that a user message follows; the next one begins there. So a user message that comes between rounds of tool calls (steering, a reminder) belongs to the
 * turn in progress and does not start the script again, and whatever an agent puts before its prompt (environment,
 * project instructions) is not counted, since only replies are.
 */
export function currentTurn(messages: readonly NeutralMessage[]): Turn {
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const lastAnswer = messages.findLastIndex(
    (message, index) => index < lastUser && message.role === 'assistant' && endsTurn(message.toolCalls),
  );
  const after = messages.slice(lastAnswer + 1);
  // What the tool of an answer said of it belongs to the answer.
  const turn = after[0]?.role === 'tool' ? after.slice(1) : after;
  return { step: turn.filter((message) => message.role === 'assistant').length, messages: turn };
}

const endsTurn = (calls: readonly NeutralToolCall[]): boolean => calls.length === 0 || calls.some(isAnswer);
