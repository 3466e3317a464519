/** The model families that our own loop has a profile for. */
export const loopProfiles = ['openai', 'anthropic', 'gemini'] as const;
export type LoopProfile = (typeof loopProfiles)[number];
