import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Usage } from '@whetstone/events';
import type { Clock } from './clock.ts';
import type { ExecutionEnvironment } from './environment/execution-environment.ts';
import type { History } from './history.ts';
import type { PromptBuilder } from './llm/prompt.ts';
import type { LoopDetector } from './loop-detection.ts';
import type { Preamble } from './preamble.ts';
import type { ProviderProfile } from './profiles/provider-profile.ts';
import type { SessionConfig } from './session-config.ts';
import type { Emit } from './session-event.ts';
import type { ApprovalHook } from './tools/run-tool-calls.ts';
import type { Input } from './turn.ts';

/** What the loop works on. The session may change `profile`, `model`, `preamble` and `config` between two calls. */
export type LoopContext = {
  readonly sessionId: string;
  readonly history: History;
  readonly environment: ExecutionEnvironment;
  readonly emit: Emit;
  readonly clock: Clock;
  readonly loopDetector: LoopDetector;
  readonly approve: ApprovalHook | undefined;
  readonly priceOf: PriceOf | undefined;
  /** Messages to be injected before the next model call, oldest first. */
  readonly steering: Input[];
  readonly totals: Totals;
  config: SessionConfig;
  profile: ProviderProfile;
  model: LanguageModelV4;
  /** Called before each request; builds on the first. */
  preamble: (signal: AbortSignal) => Promise<Preamble>;
  /** Kept from request to request; the loop replaces it when the wire or the preamble changes. */
  prompt?: { builder: PromptBuilder; preamble: Preamble; provider: string };
};

/** The price of one call in US dollars; `undefined` where it is not known. */
export type PriceOf = (call: { usage: Usage; provider: string; model: string }) => number | undefined;

/** Running sums; the session resets what counts per submit. */
export type Totals = { usage: Usage; costUsd: number | undefined; modelCalls: number; toolRounds: number };
