import type { JsonObject } from '@whetstone/events';
import type { DialogueTurn, Launch } from '../native/native-agent.ts';

/** Whether the bridge stays for the further turns of its session. */
export const staysOpen = (options: JsonObject): boolean => options.reuse_process === true;

/** What an agent behind an SDK needs of the host in one turn. */
export type SdkTurn = {
  /** What the bridge gets first: JSON. */
  request: object;
  /** Answers a question of the bridge, with JSON. Absent: it asks none. */
  answer?: (question: JsonObject) => Promise<object>;
};

/**
 * Leads a turn with the bridge of an SDK (`sdk-bridge.ts`): one request, then its questions until the turn has ended. At the
 * time limit and at an abort it is over at once; the bridge then ends the SDK.
 */
export const sdkDialogue =
  (open: (turn: DialogueTurn) => Promise<SdkTurn>): NonNullable<Launch['dialogue']> =>
  async (peer, turn) => {
    const { request, answer } = await open(turn);
    peer.send({ ...request, stays: staysOpen(turn.options) } as JsonObject);
    const left = new Promise<undefined>((resolve) => {
      turn.signal.addEventListener('abort', () => resolve(undefined));
    });
    const next = () => Promise.race([peer.next(), left]);
    for (let message = await next(); message && message.type !== 'sdk.ended'; message = await next()) {
      if (message.type !== 'sdk.ask' || !answer) continue;
      peer.send({ ...(await answer(message)), answer: message.id ?? null } as JsonObject);
    }
  };
