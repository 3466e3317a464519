// Reference: "defineAgent" with its options, "The Turn return type", "Complete example: in-process agent", and every member
// of "StreamEvent union type".
import { defineAgent, type StreamEvent, type Turn } from 'whetstone/adapter';

const EVERYTHING: StreamEvent[] = [
  { type: 'message', role: 'user', text: 'everything' },
  { type: 'thinking', text: 'First the skill.' },
  { type: 'action.called', callId: 'skill', name: 'load_skill', input: { skill: 'tidy' } },
  { type: 'action.result', callId: 'skill', status: 'completed' },
  { type: 'subagent.called', callId: 'helper', name: 'helper', remoteUrl: 'https://helper.invalid' },
  { type: 'subagent.completed', callId: 'helper', output: { found: 2 }, status: 'completed' },
  { type: 'action.called', callId: 'look', name: 'lookup', input: { topic: 'refunds' } },
  { type: 'action.result', callId: 'look', output: 'page 7', status: 'completed' },
  { type: 'message', role: 'assistant', text: 'See page 7.' },
];

/** Answers in this process, without a model. */
export default defineAgent({
  name: 'in-process',
  capabilities: { conversation: true, toolObservability: true },
  async send(input, { session, flags, model, log, signal }): Promise<Turn> {
    signal.throwIfAborted();
    log(`${session.isNew ? 'a new' : 'the same'} session`);
    session.id ??= 'conversation-1';
    const usage = { inputTokens: 20, outputTokens: 5, cacheReadTokens: 10 };
    if (input.text === 'everything') return { events: EVERYTHING, status: 'completed', usage };
    if (input.text === 'ask me') {
      return { events: [{ type: 'input.requested', request: { prompt: 'Which one?' } }], status: 'waiting' };
    }
    const data = { intent: input.text.endsWith('?') ? 'question' : 'order', tone: flags.tone, model };
    return {
      events: [{ type: 'message', role: 'assistant', text: JSON.stringify(data) }],
      ...{ data, status: 'completed', usage },
    };
  },
});
