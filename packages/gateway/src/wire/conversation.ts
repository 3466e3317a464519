import type { NeutralMessage, NeutralToolCall } from './neutral.ts';

/** Builds a conversation from a wire's items, in their order. Adjacent items of one reply become one message. */
export type ConversationBuilder = {
  messages: NeutralMessage[];
  user(text: string): void;
  assistant(part: { text?: string; thinking?: string; toolCall?: NeutralToolCall }): void;
  /** `name` is the tool's name if the wire repeats it. Otherwise the name of the call is used. */
  toolResult(callId: string, output: string, name?: string): void;
};

export function buildConversation(): ConversationBuilder {
  const messages: NeutralMessage[] = [];
  const calledTools = new Map<string, string>();
  return {
    messages,

    user(text) {
      messages.push({ role: 'user', text });
    },

    assistant({ text = '', thinking = '', toolCall }) {
      let reply = messages.at(-1);
      if (reply?.role !== 'assistant') {
        reply = { role: 'assistant', text: '', thinking: '', toolCalls: [] };
        messages.push(reply);
      }
      reply.text = joinLines(reply.text, text);
      reply.thinking = joinLines(reply.thinking, thinking);
      if (toolCall) {
        reply.toolCalls.push(toolCall);
        calledTools.set(toolCall.id, toolCall.name);
      }
    },

    toolResult(callId, output, name = calledTools.get(callId) ?? '') {
      let results = messages.at(-1);
      if (results?.role !== 'tool') {
        results = { role: 'tool', toolResults: [] };
        messages.push(results);
      }
      results.toolResults.push({ callId, name, output });
    },
  };
}

const joinLines = (before: string, after: string): string =>
  before === '' || after === '' ? before + after : `${before}\n${after}`;
