import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';

/** What the model does at one call: stream parts, fail, or decide by the request. */
export type ModelStep =
  | LanguageModelV4StreamPart[]
  | { stream: ReadableStream<LanguageModelV4StreamPart> }
  | Error
  | ((options: LanguageModelV4CallOptions) => ModelStep | Promise<ModelStep>);

/** A model that plays a script and keeps the requests it got. */
export type ScriptedModel = LanguageModelV4 & { requests: LanguageModelV4CallOptions[] };

/** Plays the steps one a call; a call past the end is answered with the text "done". */
export function scriptedModel(steps: readonly ModelStep[], provider = 'fake.model'): ScriptedModel {
  const requests: LanguageModelV4CallOptions[] = [];
  return {
    specificationVersion: 'v4',
    provider,
    modelId: 'fake-1',
    supportedUrls: {},
    requests,
    doGenerate: () => Promise.reject(new Error('the loop streams')),
    doStream: async (options) => {
      let step = steps[requests.length] ?? says('done');
      requests.push(options);
      while (typeof step === 'function') step = await step(options);
      if (step instanceof Error) throw step;
      return Array.isArray(step) ? { stream: streamOf(step) } : step;
    },
  };
}

function streamOf(parts: readonly LanguageModelV4StreamPart[]): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

export function finish(
  unified: LanguageModelV4FinishReason['unified'],
  raw?: string,
): LanguageModelV4StreamPart {
  return {
    type: 'finish',
    finishReason: { unified, raw },
    usage: {
      inputTokens: { total: 10, noCache: 8, cacheRead: 2, cacheWrite: undefined },
      outputTokens: { total: 5, text: 5, reasoning: undefined },
    },
  };
}

export function textParts(text: string, id = '0'): LanguageModelV4StreamPart[] {
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
    { type: 'text-end', id },
  ];
}

/** A response of text alone. */
export function says(text: string): LanguageModelV4StreamPart[] {
  return [...textParts(text), finish('stop')];
}

let nextCall = 0;

export function toolCall(
  name: string,
  input: unknown,
  toolCallId = `call-${nextCall++}`,
): LanguageModelV4StreamPart {
  return {
    type: 'tool-call',
    toolCallId,
    toolName: name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  };
}

/** A response that calls tools. */
export function calls(...toolCalls: LanguageModelV4StreamPart[]): LanguageModelV4StreamPart[] {
  return [...toolCalls, finish('tool-calls')];
}
