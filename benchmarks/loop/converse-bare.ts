import { createFakeModel, type ModelCall } from './fake-model.ts';
import { type Converse, createLookUp, LOOK_UP, QUESTION } from './work.ts';

type Message = ModelCall['prompt'][number];
type Tool = NonNullable<ModelCall['tools']>[number];
type AssistantPart = Extract<Message, { role: 'assistant' }>['content'][number];
type Call = Extract<AssistantPart, { type: 'tool-call' }>;

const { name, description, parameters: inputSchema } = LOOK_UP;
const TOOLS: Tool[] = [{ type: 'function', name, description, inputSchema }];

/** The smallest possible loop over a streaming model: no events, checks, limits or retries. A lower bound. */
export const converse: Converse = async (rounds) => {
  const model = createFakeModel(rounds);
  const lookUp = createLookUp();
  const prompt: Message[] = [{ role: 'user', content: [{ type: 'text', text: QUESTION }] }];
  for (;;) {
    const { stream } = await model.doStream({ prompt, tools: TOOLS });
    const calls: Call[] = [];
    for await (const part of stream) {
      if (part.type !== 'tool-call') continue;
      const { toolCallId, toolName } = part;
      calls.push({ type: 'tool-call', toolCallId, toolName, input: JSON.parse(part.input) });
    }
    if (calls.length === 0) break;
    prompt.push({ role: 'assistant', content: calls });
    prompt.push({
      role: 'tool',
      content: calls.map(({ toolCallId, toolName }) => ({
        type: 'tool-result',
        toolCallId,
        toolName,
        output: { type: 'text', value: lookUp.run() },
      })),
    });
  }
  lookUp.check(rounds);
  return prompt;
};
