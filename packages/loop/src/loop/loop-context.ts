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
import type { CallGuard } from '../llm/call-guard.ts';
import type { PromptBuilder } from '../llm/prompt.ts';
import type { PriceOf } from '../profiles/model-catalog.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';
import type { SessionTools } from '../tools/session-tools.ts';
import type { LoopDetector } from './loop-detector.ts';
import type { OutputSchema } from './structured-output.ts';

/** What the loop works on. Between two model calls the session may change `profile`, `model`, `tools` and `config`. */
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
  /** What the next request begins with. Called before each request; only the first call builds anything. */
  preamble: (signal: AbortSignal) => Promise<Preamble>;
  /** The schema that the present `submit()` asks for. */
  outputSchema?: OutputSchema | undefined;
  /** The parked calls whose `TOOL_CALL_START` this session has emitted, and whose `TOOL_CALL_END` is still to come. */
  announced: ReadonlySet<string>;
  parked?: ParkedRound | undefined;
  /** Number of first turns whose reasoning the provider has refused to take back. */
  foreignTurns: number;
  /** The prompt of the last request, which the next one continues. Replaced when the wire or the preamble changes. */
  prompt?: { builder: PromptBuilder; preamble: Preamble; provider: string } | undefined;
  /** Of the present submit, once it has called the model. */
  callGuard?: CallGuard | undefined;
};

/** How the work on one input has ended. */
export type LoopOutcome = {
  reason: EndReason;
  text: string;
  /** The answer as JSON, where the submit asks for a schema and the answer fits it. */
  output?: JsonObject;
  error?: SessionErrorData;
};

/** What the loop begins with: an input, or decisions about parked calls. */
export type LoopStart =
  | { kind: 'input'; input: Input }
  | { kind: 'resume'; decisions: ReadonlyMap<string, FinalDecision> };
