import { defineAgent, type StreamEvent } from 'whetstone/adapter';

const ORDERS: Record<string, string> = { '17': 'shipped', '18': 'lost' };

/** Answers questions about orders with two tools. It stands for a bot of your own, behind an address or in your code. */
export default defineAgent({
  name: 'support-bot',
  capabilities: { conversation: true, toolObservability: true },
  async send({ text }, { session, flags }) {
    session.id ??= 'conversation';
    const id = /\d+/.exec(text)?.[0];
    if (id === undefined) return completed([said('Which order do you mean?')]);
    const status = ORDERS[id] ?? 'unknown';
    const call: StreamEvent = { type: 'action.called', callId: 'look-up', name: 'get_order', input: { id } };
    const result: StreamEvent = {
      ...{ type: 'action.result', callId: 'look-up', status: 'completed', output: { status } },
    };
    const refund: StreamEvent[] =
      status === 'lost' && /refund/i.test(text)
        ? [
            { type: 'action.called', callId: 'pay', name: 'refund', input: { id } },
            { type: 'action.result', callId: 'pay', status: 'completed' },
          ]
        : [];
    const tone = flags.polite ? 'Thank you for asking. ' : '';
    return completed([call, result, ...refund, said(`${tone}Order ${id} is ${status}.`)], { id, status });
  },
});

const said = (text: string): StreamEvent => ({ type: 'message', role: 'assistant', text });

const completed = (events: StreamEvent[], data?: unknown) => ({ events, data, status: 'completed' as const });
