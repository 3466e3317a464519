import type { SessionOptions } from '@whetstone/loop';
import { ANSWER, answerTime, atModelCall, LOOK_UP, lookUpArguments } from './work.ts';

/** A `LanguageModelV4` of `@ai-sdk/provider`. */
export type Model = SessionOptions['model'];
export type ModelCall = Parameters<Model['doStream']>[0];
type Generated = Awaited<ReturnType<Model['doGenerate']>>;
type StreamPart =
  Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** A model without memory for loops over `@ai-sdk/provider`: it calls the tool `rounds` times, then answers. */
export function createFakeModel(rounds: number): Model {
  let round = 0;
  const next = () => {
    atModelCall();
    return round < rounds ? callOf(round++) : undefined;
  };
  return {
    specificationVersion: 'v4',
    provider: 'fake.model',
    modelId: 'fake-1',
    supportedUrls: {},
    doGenerate: async () => {
      const call = next();
      const time = answerTime();
      if (time) await time;
      const content: Generated['content'] = [call ?? { type: 'text', text: ANSWER }];
      return { content, finishReason: finishReasonOf(call), usage: USAGE, warnings: [] };
    },
    doStream: async () => {
      const call = next();
      const time = answerTime();
      if (time) await time;
      const parts: StreamPart[] = [
        { type: 'stream-start', warnings: [] },
        ...(call ? streamedCall(call) : STREAMED_ANSWER),
        { type: 'finish', finishReason: finishReasonOf(call), usage: USAGE },
      ];
      return { stream: streamOf(parts) };
    },
  };
}

type Call = Extract<Generated['content'][number], { type: 'tool-call' }>;

function callOf(round: number): Call {
  return {
    type: 'tool-call',
    toolCallId: `call_${round}`,
    toolName: LOOK_UP.name,
    input: JSON.stringify(lookUpArguments(round)),
  };
}

function streamedCall(call: Call): StreamPart[] {
  const id = call.toolCallId;
  return [
    { type: 'tool-input-start', id, toolName: call.toolName },
    { type: 'tool-input-delta', id, delta: call.input },
    { type: 'tool-input-end', id },
    call,
  ];
}

const STREAMED_ANSWER: readonly StreamPart[] = [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: ANSWER },
  { type: 'text-end', id: '0' },
];

function finishReasonOf(call: Call | undefined): Generated['finishReason'] {
  return call ? { unified: 'tool-calls', raw: 'tool_calls' } : { unified: 'stop', raw: 'stop' };
}

const USAGE: Generated['usage'] = {
  inputTokens: { total: 1_000, noCache: 100, cacheRead: 900, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
};

function streamOf(parts: readonly StreamPart[]): ReadableStream<StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
