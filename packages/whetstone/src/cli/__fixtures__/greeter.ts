/** Greets with a tool; the prompt `fail` makes it fail, `ask` makes it ask, `hang` never ends. */
const GREETER = `
export const greeter = defineAgent({
  name: 'greeter',
  capabilities: { conversation: true, toolObservability: true },
  async send({ text }, { session, flags, model, log }) {
    log('greeting');
    const isNew = session.isNew;
    session.id ??= 'session';
    const said = (reply) => ({ type: 'message', role: 'assistant', text: reply });
    if (text === 'fail') return { events: [{ type: 'error', message: 'no voice' }], status: 'failed' };
    if (text === 'hang') await new Promise((resolve) => setTimeout(resolve, 600_000));
    if (text === 'ask') return { events: [{ type: 'input.requested', request: { prompt: 'Who?' } }], status: 'waiting' };
    return {
      events: [
        { type: 'action.called', callId: '1', name: 'greet', input: { whom: text } },
        { type: 'action.result', callId: '1', status: 'completed' },
        said([isNew ? 'Hello' : 'Hello again', text, flags.tone, model].filter(Boolean).join(' ')),
      ],
      data: { whom: text },
      status: 'completed',
      usage: { inputTokens: 3, outputTokens: 2 },
    };
  },
});
`;

/** An experiment with the greeter. `more`: further keys. */
export const experiment = (more = ''): string => `
import { defineExperiment } from 'whetstone';
import { defineAgent } from 'whetstone/adapter';
${GREETER}
export default defineExperiment({ agent: greeter, ${more} });
`;

/** An eval with this body of its test. `more`: further keys, each line with a newline. */
export const evalFile = (body: string, more = ''): string =>
  `import { defineEval } from 'whetstone';\nexport default defineEval({\n${more}  async test(t) {\n${body}\n  },\n});\n`;
