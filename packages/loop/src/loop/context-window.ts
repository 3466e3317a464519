import { charactersOf } from '../conversation/history.ts';
import { catalogContextWindow } from '../profiles/model-catalog.ts';
import type { LoopContext } from './loop-context.ts';

/** Tokens that the session's model can take. */
export function contextWindow({ config, profile, model }: LoopContext): number {
  if (config.contextWindowSize !== undefined) return config.contextWindowSize;
  if (model.modelId === profile.model) return profile.contextWindowSize;
  return catalogContextWindow(model.provider, model.modelId) ?? profile.contextWindowSize;
}

/** Characters of the next request, without its tools. */
export function charactersOfRequest({ history, prompt }: LoopContext): number {
  const { systemPrompt = '', environmentContext = '' } = prompt?.preamble ?? {};
  return history.characters + systemPrompt.length + environmentContext.length;
}

/** Code has fewer characters per token than prose. */
const FEWEST_CHARACTERS_PER_TOKEN = 3;
/** What the tools of a request may take. They are not part of the history. */
const TOKENS_OF_TOOLS = 20_000;
/** A model can hardly do anything with fewer. */
const LEAST_OUTPUT = 1_024;

/**
 * `wanted`, or what the window has left: Anthropic refuses a request whose prompt and output limit are together more
 * than the window. What the provider has counted for the last response is certain, and what came since is estimated.
 */
export function fitOutputLimit(context: LoopContext, wanted: number | undefined): number | undefined {
  if (wanted === undefined) return undefined;
  const left = Math.floor(contextWindow(context) - tokensOfRequest(context));
  return left >= wanted ? wanted : Math.max(left, Math.min(wanted, LEAST_OUTPUT));
}

function tokensOfRequest(context: LoopContext): number {
  const { turns } = context.history;
  const last = turns.findLastIndex((turn) => turn.kind === 'assistant');
  const turn = turns[last];
  const characters = charactersOfRequest(context);
  if (turn?.kind !== 'assistant' || !turn.usage) return characters / FEWEST_CHARACTERS_PER_TOKEN;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = turn.usage;
  const since = turns.slice(last + 1).reduce((sum, later) => sum + charactersOf(later), 0);
  const counted = inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens;
  // A history that the host has shortened since the count has no more tokens than characters.
  return Math.min(counted + since / FEWEST_CHARACTERS_PER_TOKEN, characters + TOKENS_OF_TOOLS);
}
