import type { NeutralMessage, NeutralToolCall } from './neutral.ts';

export type ConversationBuilder = ReturnType<typeof buildConversation>;

/** Builds a conversation from a wire's items, in their order. Adjacent items of one reply become one message. */
export function buildConversation() {
  const messages: NeutralMessage[] = [];
  const calledTools = new Map<string, string>();
  return {
    messages,

    user(text: string): void {
      messages.push({ role: 'user', text });
    },

    assistant({ text = '', thinking = '', toolCall }: AssistantPart): void {
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

    /** `name` is the tool's name if the wire repeats it. Otherwise the name of the call is used. */
    toolResult(callId: string, output: string, name = calledTools.get(callId) ?? ''): void {
      let results = messages.at(-1);
      if (results?.role !== 'tool') {
        results = { role: 'tool', toolResults: [] };
        messages.push(results);
      }
      results.toolResults.push({ callId, name, output });
    },
  };
}

type AssistantPart = { text?: string; thinking?: string; toolCall?: NeutralToolCall };

const joinLines = (before: string, after: string): string =>
  before === '' || after === '' ? before + after : `${before}\n${after}`;
