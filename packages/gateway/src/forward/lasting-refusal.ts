import { type Answer, errorAnswer } from '../answer.ts';
import type { Call } from '../source.ts';
import { finalStatus } from '../wire/provider-error.ts';

/** The refusal in a row from which on agents are told to give up: a client may refresh its login, and a provider err. */
const LASTING = 3;

/** The SDKs of OpenAI and Anthropic, and Claude Code, do not retry an answer with this header. */
const GIVE_UP = { 'x-should-retry': 'false' };

/** Keeps an agent from spending its time limit on a key or a login that its provider refuses. One per lane. */
export function watchRefusals() {
  let inARow = 0;

  return {
    /** The answer for the agent. `isClients`: the credentials are the client's, which can refresh them. */
    heed(answer: Answer, call: Call, isClients: boolean): Answer {
      if (answer.status !== 401 && answer.status !== 403) {
        if (answer.status < 400) inARow = 0;
        return answer;
      }
      inARow += 1;
      if (inARow >= LASTING) {
        const reason = call.line.error ?? 'The provider refused access.';
        call.line.error = `${reason} It answered ${answer.status}, and has refused ${inARow} calls in a row.`;
        call.line.flags.push('access-refused');
        return errorAnswer(call.wire, finalStatus(call.wire), call.line.error, GIVE_UP);
      }
      return isClients ? answer : { ...answer, headers: { ...answer.headers, ...GIVE_UP } };
    },
  };
}
