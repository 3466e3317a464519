import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { JsonObject } from '@whetstone/events';
import type { ApprovalHook, FinalDecision } from '../control/approval.ts';
import type { SpendMeter } from '../control/budget.ts';
import type { Clock } from '../control/clock.ts';
import type { Hooks } from '../control/hooks.ts';
import type { SessionConfig } from '../control/session-config.ts';
import type { SteeringQueue } from '../control/steering-queue.ts';
import type { History } from '../conversation/history.ts';
import type { Preamble } from '../conversation/preamble.ts';
import type { ParkedRound } from '../conversation/snapshot.ts';
import type { Input } from '../conversation/turn.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { Emit, EndReason, SessionErrorData } from '../events/session-event.ts';
import type { PriceOf } from '../llm/model-catalog.ts';
import type { PromptBuilder } from '../llm/prompt.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';
import type { SessionTools } from '../tools/session-tools.ts';
import type { LoopDetector } from './loop-detector.ts';
import type { OutputSchema } from './structured-output.ts';

/** What the loop works on. The session may change `profile`, `model`, `tools` and `config` between two calls. */
export type LoopContext = {
  readonly sessionId: string;
  readonly history: History;
  readonly environment: ExecutionEnvironment;
  readonly emit: Emit;
  readonly clock: Clock;
  readonly loopDetector: LoopDetector;
  readonly approve: ApprovalHook | undefined;
  readonly hooks: Hooks;
  readonly priceOf: PriceOf;
  readonly steering: SteeringQueue;
  readonly meter: SpendMeter;
  config: SessionConfig;
  profile: ProviderProfile;
  tools: SessionTools;
  model: LanguageModelV4;
  /** Called before each request; builds on the first. */
  preamble: (signal: AbortSignal) => Promise<Preamble>;
  /** Of the present `submit()`. */
  outputSchema?: OutputSchema | undefined;
  /** The parked calls whose `TOOL_CALL_START` was reported by this session and whose `TOOL_CALL_END` is still to come. */
  announced: ReadonlySet<string>;
  /** A round that waits for decisions. */
  parked?: ParkedRound | undefined;
  /** Turns whose reasoning the provider refused to take back. */
  foreignTurns: number;
  /** Kept from request to request; the loop replaces it when the wire or the preamble changes. */
  prompt?: { builder: PromptBuilder; preamble: Preamble; provider: string } | undefined;
};

export type LoopOutcome = {
  reason: EndReason;
  text: string;
  /** The answer as the schema of the submit wants it. */
  output?: JsonObject;
  error?: SessionErrorData;
};

/** What the loop begins with: an input, or decisions about the calls that wait for them. */
export type LoopStart =
  | { kind: 'input'; input: Input }
  | { kind: 'resume'; decisions: ReadonlyMap<string, FinalDecision> };
