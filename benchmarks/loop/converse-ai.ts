import { createFakeModel, type Model } from './fake-model.ts';
import { importPeer } from './import-peer.ts';
import { type Converse, createLookUp, LOOK_UP, QUESTION } from './work.ts';

type LoopSettings = { model: Model; tools: object; stopWhen: object };

/** The part of `ai` that is used here. */
type Ai = {
  generateText: (options: LoopSettings & { prompt: string }) => Promise<object>;
  ToolLoopAgent: new (
    settings: LoopSettings,
  ) => {
    stream(options: { prompt: string }): Promise<{ consumeStream(): Promise<void> }>;
  };
  isLoopFinished: () => object;
  jsonSchema: (schema: object) => object;
  tool: (tool: object) => object;
};

const ai = await importPeer<Ai>('ai');

export const converseByGenerateText: Converse = async (rounds) => {
  const { lookUp, settings } = prepare(rounds);
  const result = await ai.generateText({ ...settings, prompt: QUESTION });
  lookUp.check(rounds);
  return result;
};

export const converseByToolLoopAgent: Converse = async (rounds) => {
  const { lookUp, settings } = prepare(rounds);
  const result = await new ai.ToolLoopAgent(settings).stream({ prompt: QUESTION });
  await result.consumeStream();
  lookUp.check(rounds);
  return result;
};

function prepare(rounds: number) {
  const lookUp = createLookUp();
  const { description, parameters } = LOOK_UP;
  const inputSchema = ai.jsonSchema(parameters);
  const tools = { [LOOK_UP.name]: ai.tool({ description, inputSchema, execute: async () => lookUp.run() }) };
  return { lookUp, settings: { model: createFakeModel(rounds), tools, stopWhen: ai.isLoopFinished() } };
}
