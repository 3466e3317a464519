import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { Lane } from '../lane.ts';
import type { LedgerLine } from '../ledger.ts';
import type { WireProtocol } from '../wire/neutral.ts';

/** A released client for each wire, pointed at a lane. */
export function clientOf(wire: WireProtocol, lane: Lane): LanguageModelV4 {
  const settings = { baseURL: `${lane.baseUrl}/v1`, apiKey: lane.key };
  switch (wire) {
    case 'openai-responses':
      return createOpenAI(settings).responses('gpt-5.5');
    case 'openai-chat-completions':
      return createOpenAI(settings).chat('gpt-5.5');
    case 'anthropic-messages':
      return createAnthropic(settings)('claude-sonnet-4-5');
    case 'gemini-generate-content':
      return createGoogleGenerativeAI({ ...settings, baseURL: `${lane.baseUrl}/v1beta` })('gemini-2.5-pro');
  }
}

export const shellTool: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'shell',
  inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
};

export const userPrompt = (text: string): LanguageModelV4CallOptions['prompt'] => [
  { role: 'user', content: [{ type: 'text', text }] },
];

/** What a client understood of a reply. */
export type Received = {
  text: string;
  thinking: string;
  calls: { name: string; input: string }[];
  usage: LanguageModelV4Usage;
  finish: string;
};

export async function generate(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<Received> {
  const result = await model.doGenerate(options);
  const received: Received = {
    text: '',
    thinking: '',
    calls: [],
    usage: result.usage,
    finish: result.finishReason.unified,
  };
  for (const part of result.content) {
    if (part.type === 'text') received.text += part.text;
    else if (part.type === 'reasoning') received.thinking += part.text;
    else if (part.type === 'tool-call') received.calls.push({ name: part.toolName, input: part.input });
  }
  return received;
}

export async function stream(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<Received> {
  const received: Partial<Received> & Pick<Received, 'text' | 'thinking' | 'calls'> = {
    text: '',
    thinking: '',
    calls: [],
  };
  const result = await model.doStream(options);
  for await (const part of result.stream as ReadableStream<LanguageModelV4StreamPart>) {
    switch (part.type) {
      case 'text-delta':
        received.text += part.delta;
        break;
      case 'reasoning-delta':
        received.thinking += part.delta;
        break;
      case 'tool-call':
        received.calls.push({ name: part.toolName, input: part.input });
        break;
      case 'finish':
        received.usage = part.usage;
        received.finish = part.finishReason.unified;
        break;
      case 'error':
        throw part.error;
    }
  }
  const { usage, finish } = received;
  if (!usage || finish === undefined) throw new Error('the stream had no finish');
  return { ...received, usage, finish };
}

export const ways = [
  ['whole', generate],
  ['streamed', stream],
] as const;

/** Resolves with the lane's next ledger line, for tests in which the client's side ends first. */
export function nextCall(): { onCall: (line: LedgerLine) => void; line: Promise<LedgerLine> } {
  const { promise, resolve } = Promise.withResolvers<LedgerLine>();
  return { onCall: resolve, line: promise };
}

export type JsonAnswer = { status: number; headers: Headers; body: unknown };

/** A hand-written request; `key: null` sends no key. */
export async function call(
  lane: Lane,
  path: string,
  {
    key = lane.key,
    ...init
  }: Omit<RequestInit, 'headers'> & { key?: string | null; headers?: Record<string, string> } = {},
): Promise<JsonAnswer> {
  const response = await fetch(`${lane.baseUrl}${path}`, {
    ...init,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...init.headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

export const postJson = (lane: Lane, path: string, body: unknown): Promise<JsonAnswer> =>
  call(lane, path, { method: 'POST', body: JSON.stringify(body) });
