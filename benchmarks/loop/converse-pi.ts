import { importPeer } from './import-peer.ts';
import {
  ANSWER,
  answerTime,
  atModelCall,
  type Converse,
  createLookUp,
  LOOK_UP,
  lookUpArguments,
  QUESTION,
} from './work.ts';

/** The part of `pi-agent-core` that is used here. */
type PiAgentCore = {
  Agent: new (options: {
    initialState: { systemPrompt: string; model: object; tools: object[] };
    streamFn: (model: object, context: object, options: object) => object;
  }) => { prompt(text: string): Promise<void>; state: { errorMessage?: string } };
};

/** The part of `pi-ai` that is used here. */
type PiAi = { createAssistantMessageEventStream: () => { push(event: object): void } };

/** A loop with the packages of this scope: pi's first, or the one that its newer releases have. */
export async function converseIn(scope: '@mariozechner' | '@earendil-works'): Promise<Converse> {
  const { Agent } = await importPeer<PiAgentCore>(`${scope}/pi-agent-core`);
  const { createAssistantMessageEventStream } = await importPeer<PiAi>(`${scope}/pi-ai`);
  return (rounds) => converse(rounds, Agent, createAssistantMessageEventStream);
}

async function converse(
  rounds: number,
  Agent: PiAgentCore['Agent'],
  createStream: PiAi['createAssistantMessageEventStream'],
): Promise<unknown> {
  const lookUp = createLookUp();
  let round = 0;
  const agent = new Agent({
    initialState: { systemPrompt: 'You look things up.', model: MODEL, tools: [toolOf(lookUp.run)] },
    streamFn: () => {
      atModelCall();
      const stream = createStream();
      const call = round < rounds ? round++ : undefined;
      const time = answerTime();
      if (time) void time.then(() => respond(call, stream));
      else respond(call, stream);
      return stream;
    },
  });
  await agent.prompt(QUESTION);
  if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
  lookUp.check(rounds);
  return agent;
}

function toolOf(run: () => string): object {
  const { name, description, parameters } = LOOK_UP;
  const execute = async () => ({ content: [{ type: 'text', text: run() }], details: {} });
  return { name, label: name, description, parameters, execute };
}

/** Sends the response of a round, with the events that pi's own providers send; without a round, the last one. */
function respond(round: number | undefined, stream: { push(event: object): void }): void {
  const content: object[] = [];
  const message = { ...RESPONSE, content, timestamp: Date.now() };
  stream.push({ type: 'start', partial: message });
  if (round === undefined) {
    content.push({ type: 'text', text: ANSWER });
    stream.push({ type: 'text_start', contentIndex: 0, partial: message });
    stream.push({ type: 'text_delta', contentIndex: 0, delta: ANSWER, partial: message });
    stream.push({ type: 'text_end', contentIndex: 0, content: ANSWER, partial: message });
    stream.push({ type: 'done', reason: 'stop', message: { ...message, stopReason: 'stop' } });
    return;
  }
  const delta = JSON.stringify(lookUpArguments(round));
  const toolCall = {
    type: 'toolCall',
    id: `call_${round}`,
    name: LOOK_UP.name,
    arguments: JSON.parse(delta),
  };
  content.push(toolCall);
  stream.push({ type: 'toolcall_start', contentIndex: 0, partial: message });
  stream.push({ type: 'toolcall_delta', contentIndex: 0, delta, partial: message });
  stream.push({ type: 'toolcall_end', contentIndex: 0, toolCall, partial: message });
  stream.push({ type: 'done', reason: 'toolUse', message: { ...message, stopReason: 'toolUse' } });
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const MODEL = {
  id: 'fake-1',
  name: 'fake-1',
  api: 'fake',
  provider: 'fake',
  baseUrl: 'http://127.0.0.1',
  reasoning: false,
  input: ['text'],
  cost: NO_COST,
  contextWindow: Number.MAX_SAFE_INTEGER,
  maxTokens: 32_000,
};

const RESPONSE = {
  role: 'assistant',
  api: MODEL.api,
  provider: MODEL.provider,
  model: MODEL.id,
  usage: {
    input: 100,
    output: 20,
    cacheRead: 900,
    cacheWrite: 0,
    totalTokens: 1_020,
    cost: { ...NO_COST, total: 0 },
  },
};
