import type { ScriptStep } from '../index.ts';

/** A reply with everything that a wire can carry. Gemini does not count cache writes. */
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

/** The commands of its calls. */
export const commands = ['ls -la', `echo "it's" \\n`];
