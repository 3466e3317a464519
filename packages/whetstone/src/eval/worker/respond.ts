import type { InputRequest, PolicyDecision, PolicyRequest, StreamEvent, TurnInput } from '@whetstone/agents';
import { present } from '@whetstone/events/present';
import { show } from '../expect/show.ts';
import type { Answer, Question, Responder } from '../test-context.ts';

/** The question of an agent as an eval sees it. */
export function questionOf(request: PolicyRequest): Question {
  const { kind } = request;
  switch (request.kind) {
    case 'question':
      return {
        ...{ kind, request },
        prompt: request.questions.map(({ text }) => text).join('\n'),
        options: request.questions.flatMap(({ options }) => options),
      };
    case 'elicitation':
      return { kind, request, prompt: request.message, options: [] };
    case 'command':
      return { kind, request, prompt: request.command, options: [] };
    case 'tool':
      return { kind, request, prompt: `${request.name} ${JSON.stringify(request.input)}`, options: [] };
    case 'file-change':
    case 'file-read':
      return { kind, request, prompt: request.paths.join('\n'), options: [] };
    default:
      return { kind, request, prompt: request.what, options: [] };
  }
}

/** What the responder of an eval decides; `undefined` leaves it to the policy. */
export async function decisionBy(
  responder: Responder | undefined,
  request: PolicyRequest,
): Promise<PolicyDecision | undefined> {
  const answer = await responder?.(questionOf(request));
  if (answer === undefined) return undefined;
  if (typeof answer === 'boolean') return { decision: answer ? 'approved' : 'denied', rule: 't.respond' };
  const approved = { decision: 'approved', rule: 't.respond' } as const;
  if (request.kind === 'elicitation') {
    return { ...approved, content: typeof answer === 'string' ? { answer } : { ...answer } };
  }
  if (request.kind !== 'question') {
    throw new TypeError(`respond(): a question of kind ${request.kind} is answered with true or false.`);
  }
  const given = ({ id, text }: { id: string; text: string }): string => {
    const own = typeof answer === 'string' ? answer : (answer[id] ?? answer[text]);
    if (own === undefined)
      throw new TypeError(`respond(): the answer has nothing for the question ${show(text)}.`);
    return own;
  };
  const answers = request.questions.map((question) => [question.id, [given(question)]]);
  return { ...approved, answers: Object.fromEntries(answers) };
}

/** What a turn waits for. Throws where it does not wait. */
export function openRequest(
  turn: { status: string; events: readonly StreamEvent[] } | undefined,
): InputRequest {
  const asked = turn?.events.findLast((event) => event.type === 'input.requested');
  if (turn?.status === 'waiting' && asked) return asked.request;
  throw new RangeError('respond(): the last turn of the session does not wait for an answer.');
}

/** The message that answers what a turn waits for. */
export function answerTo(request: InputRequest, answer: Answer): TurnInput {
  const { id, options = [] } = request;
  if (typeof answer === 'object') {
    return { text: JSON.stringify(answer), response: { ...present({ id }), answer } };
  }
  const text = typeof answer === 'string' ? answer : answer ? 'yes' : 'no';
  const option = options.find((one) => one.id === text || one.label === text);
  const response = { ...present({ id }), ...(option && { option: option.id }), answer };
  return { text, response };
}
