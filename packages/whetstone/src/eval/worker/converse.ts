import { requireArgument, requireKeys } from '../expect/arguments.ts';
import type { TestCalls } from '../protocol.ts';
import type { Conversed, SimulatedUser } from '../test-context.ts';

type Talking<Turn> = { send(text: string): Promise<Turn>; ask: TestCalls['user'] };
type SpokenTurn = { status: string; reply: string };

/** Lets a simulated user talk with the agent until it is done, the limit is reached, or a turn does not complete. */
export async function converse<Turn extends SpokenTurn>(
  user: SimulatedUser,
  { send, ask }: Talking<Turn>,
): Promise<Conversed<Turn>> {
  requireKeys('converse()', user, ['limit', 'says', 'goal', 'opening']);
  const isOne = 'says' in user !== 'goal' in user;
  requireArgument(isOne, 'converse()', 'a user with either `says` or `goal`', user);
  const { limit = 10 } = user;
  if (!(Number.isInteger(limit) && limit >= 1)) {
    throw new RangeError(`converse({ limit: ${limit} }): the limit is a whole number of messages from 1.`);
  }
  const next = speakerOf(user, ask);
  const turns: Turn[] = [];
  const said: { by: 'user' | 'agent'; text: string }[] = [];
  for (;;) {
    const reply = await next(said, turns.length);
    if ('done' in reply) return { turns, ended: reply.done };
    // Asked once more, so that a goal that the last answer has reached counts as reached.
    if (turns.length >= limit) return { turns, ended: 'limit' };
    const turn = await send(reply.message);
    turns.push(turn);
    if (turn.status !== 'completed') return { turns, ended: 'agent' };
    said.push({ by: 'user', text: reply.message }, { by: 'agent', text: turn.reply });
  }
}

type Said = { by: 'user' | 'agent'; text: string }[];
type Next = { message: string } | { done: 'reached' | 'given up' };

function speakerOf(user: SimulatedUser, ask: TestCalls['user']): (said: Said, turn: number) => Promise<Next> {
  if ('goal' in user) {
    const { goal, opening } = user;
    return async (said, turn) =>
      turn === 0 && opening !== undefined ? { message: opening } : ask({ goal, said });
  }
  const { says } = user;
  return async (said, turn) => {
    const message = typeof says === 'function' ? await says(said) : says[turn];
    return message === undefined ? { done: 'reached' } : { message };
  };
}
