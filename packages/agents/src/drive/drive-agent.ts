import { present } from '@whetstone/events/present';
import type { Agent, TurnInput } from '../agent.ts';
import { readPrompt } from '../kit/input-items.ts';
import { type DrivenTurn, startTurn } from './driven-turn.ts';
import { openSession, type TurnOptions } from './open-session.ts';
import type { SessionOptions } from './session-place.ts';

export type DriveOptions = SessionOptions &
  Pick<TurnOptions, 'onEvent' | 'onLog'> & {
    prompt: string;
    /** A JSON Schema (draft 2020-12) of type object for the answer, which is then `turn.data`. Default: the answer is text. */
    outputSchema?: TurnInput['outputSchema'];
  };

/**
 * Drives an agent for one turn in a folder, and cleans up: what the agent started has ended when the turn resolves.
 *
 * ```ts
 * const turn = driveAgent(agent, { folder: 'my-project', prompt: 'Fix the failing test.' });
 * for await (const event of turn) console.log(event.type);
 * const { status, usage } = await turn;
 * ```
 *
 * Resolves with the turn even if the agent failed. At the time limit, the turn has failed and its `exit.ended` is
 * `timeout`. Rejects only if the agent could not be driven. For a conversation see `openSession`.
 */
export function driveAgent(agent: Agent, options: DriveOptions): DrivenTurn {
  const { prompt, outputSchema, onEvent, onLog, ...sessionOptions } = options;
  return startTurn(async (emit, signal) => {
    await using session = await openSession(agent, sessionOptions);
    return await session.send(
      { ...readPrompt(prompt), ...present({ outputSchema }) },
      {
        signal,
        onEvent(event) {
          onEvent?.(event);
          emit(event);
        },
        ...present({ onLog }),
      },
    );
  });
}
