import type { LoopProfile } from './loop-profiles.ts';

/** The defaults of a profile of our loop. `provider` is the name of its provider in the loop's client. */
export const loopDefaults = {
  openai: {
    provider: 'openai',
    model: 'gpt-5.5',
    apiKeyEnv: 'OPENAI_API_KEY',
    baseUrlEnv: 'OPENAI_BASE_URL',
  },
  anthropic: {
    provider: 'anthropic',
    model: 'claude-opus-4-8',
    apiKeyEnv: 'ANTHROPIC_API_KEY',
    baseUrlEnv: 'ANTHROPIC_BASE_URL',
  },
  gemini: {
    provider: 'google',
    model: 'gemini-3-pro-preview',
    apiKeyEnv: 'GEMINI_API_KEY',
    baseUrlEnv: 'GOOGLE_GEMINI_BASE_URL',
  },
} as const satisfies Record<LoopProfile, Record<string, string>>;
