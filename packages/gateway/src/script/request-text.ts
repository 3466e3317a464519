import type { Usage } from '@whetstone/events';
import { joinText } from '../wire/json-reading.ts';
import { inputText, type NeutralMessage, type NeutralReply, type NeutralRequest } from '../wire/neutral.ts';

/** The text of a message, without reasoning, which is not part of what was said. */
const messageText = (message: NeutralMessage): string =>
  message.role === 'tool' ? joinText(...message.toolResults.map(({ output }) => output)) : message.text;

/** All text of a request: instructions, then the messages and the results of tools in order. */
export const requestText = (request: NeutralRequest): string =>
  joinText(request.instructions, ...request.messages.map(messageText));

/** One token per four characters: a rule of thumb for English and code, and the same for every agent. */
const charactersPerToken = 4;

/** An estimate of a request's input tokens, from its text, its earlier tool calls and its tool definitions. */
export function estimateInputTokens(request: NeutralRequest): number {
  const calls = request.messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  );
  return tokensFor(
    requestText(request).length + JSON.stringify(calls).length + JSON.stringify(request.tools).length,
  );
}

/** Estimated usage of a reply. Buckets that the script sets replace the estimated ones. */
export function estimateUsage(
  request: NeutralRequest,
  reply: Pick<NeutralReply, 'text' | 'thinking' | 'toolCalls'>,
  named: Partial<Usage> = {},
): Usage {
  const thinking = reply.thinking ?? '';
  const calls = reply.toolCalls.map(inputText);
  return {
    inputTokens: estimateInputTokens(request),
    outputTokens: tokensFor([reply.text ?? '', thinking, ...calls].join('').length),
    ...(thinking === '' ? {} : { reasoningTokens: tokensFor(thinking.length) }),
    ...named,
  };
}

export const tokensFor = (characters: number): number => Math.ceil(characters / charactersPerToken);
