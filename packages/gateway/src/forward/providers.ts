import type { WireProtocol } from '../wire/neutral.ts';

/** A provider as its own SDKs know it: the wires that it speaks, and the variables that may hold its key. */
export type Provider = { wires: readonly WireProtocol[]; keyVariables: readonly string[] };

export const providers = {
  openai: {
    wires: ['openai-responses', 'openai-chat-completions'],
    keyVariables: ['OPENAI_API_KEY'],
  },
  anthropic: { wires: ['anthropic-messages'], keyVariables: ['ANTHROPIC_API_KEY'] },
  google: {
    wires: ['gemini-generate-content'],
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  },
} as const satisfies Record<string, Provider>;

export type ProviderName = keyof typeof providers;
