/** An agent in code that answers with the text after `say`. */
export const ECHO = `
import { defineExperiment } from 'whetstone';
import { defineAgent } from 'whetstone/adapter';

const echo = defineAgent({
  name: 'echo',
  capabilities: { conversation: true, toolObservability: true },
  async send({ text }, { session }) {
    session.id ??= 'one';
    const events = [{ type: 'message', role: 'assistant', text: text.replace(/^say /, '') }];
    return { events, status: 'completed', usage: { inputTokens: 3, outputTokens: 2 } };
  },
});
`;

/** Evals of one file, each with these lines after its first message. */
export const evals = (...bodies: string[]): string =>
  `import { defineEval, equals } from 'whetstone';\nexport default [\n${bodies
    .map((body) => `defineEval({ async test(t) {\n    await t.send('say Hello Ada.');\n    ${body}\n} })`)
    .join(',\n')}\n];\n`;

