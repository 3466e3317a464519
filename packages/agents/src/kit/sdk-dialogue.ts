import type { JsonObject } from '@whetstone/events';
import type { DialogueTurn, Launch } from '../native/native-agent.ts';
import type { Peer } from './dialogue.ts';

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
  (
    open: (turn: DialogueTurn) => Promise<SdkTurn>,
    stays: (options: JsonObject) => boolean = staysOpen,
  ): NonNullable<Launch['dialogue']> =>
  async (peer, turn) => {
    const { request, answer } = await open(turn);
    peer.send({ ...request, stays: stays(turn.options) } as JsonObject);
    const left = new Promise<void>((resolve) => {
      turn.signal.addEventListener('abort', () => resolve());
    });
    // One race for all messages: a race for each would keep its message as long as `left` waits.
    await Promise.race([answerAll(peer, turn.signal, answer), left]);
  };

async function answerAll(peer: Peer, signal: AbortSignal, answer: SdkTurn['answer']): Promise<void> {
  for (
    let message = await peer.next();
    message && message.type !== 'sdk.ended' && !signal.aborted;
    message = await peer.next()
  ) {
    if (message.type !== 'sdk.ask' || !answer) continue;
    peer.send({ ...(await answer(message)), answer: message.id ?? null } as JsonObject);
  }
}
