import type { ScriptStep } from '../index.ts';

/** A reply with everything that a wire can carry. Gemini has no count of tokens that were written to a cache. */
export const step = {
  thinking: 'First look around.',
  text: 'Looking: é😀.',
  calls: [
    { tool: 'shell', command: 'ls -la' },
    { tool: 'shell', command: `echo "it's" \\n` },
  ],
  usage: {
    inputTokens: 100,
    cacheReadTokens: 20,
    cacheWriteTokens: 3,
    outputTokens: 50,
    reasoningTokens: 40,
  },
} satisfies ScriptStep;

/** What its calls run. */
export const commands = ['ls -la', `echo "it's" \\n`];
