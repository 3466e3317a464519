import type { Converse } from './work.ts';

/** The loops that are measured, by name. Each is loaded when it is asked for. */
export const CONVERSES: Readonly<Record<string, () => Promise<Converse>>> = {
  bare: async () => (await import('./converse-bare.ts')).converse,
  whetstone: async () => (await import('./converse-whetstone.ts')).converse,
  'whetstone-listener': async () => (await import('./converse-whetstone.ts')).converseWithListener,
  'pi-agent-core': async () => await (await import('./converse-pi.ts')).converseIn('@earendil-works'),
  'pi-agent-core-0.73': async () => await (await import('./converse-pi.ts')).converseIn('@mariozechner'),
  'ai-generate-text': async () => (await import('./converse-ai.ts')).converseByGenerateText,
  'ai-tool-loop-agent': async () => (await import('./converse-ai.ts')).converseByToolLoopAgent,
};
