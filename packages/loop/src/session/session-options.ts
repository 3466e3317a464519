import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { JsonObject } from '@whetstone/events';
import type { ApprovalHook } from '../control/approval.ts';
import type { Budget, SpendMeter } from '../control/budget.ts';
import type { Clock } from '../control/clock.ts';
import type { Hooks } from '../control/hooks.ts';
import type { SessionConfig } from '../control/session-config.ts';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { ProcessingEnd } from '../events/session-event.ts';
import type { PriceOf } from '../llm/model-catalog.ts';
import type { OutputSchema } from '../loop/structured-output.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';
import type { SubagentOptions } from '../subagents/subagents.ts';

/** Loop spec 2.3. `AWAITING_INPUT`: a question of the model, or a parked call, waits for the host. */
export type SessionState = 'IDLE' | 'PROCESSING' | 'AWAITING_INPUT' | 'CLOSED';

export type SessionOptions = {
  profile: ProviderProfile;
  environment: ExecutionEnvironment;
  /** See `createModel`, or bring any `LanguageModelV4`. */
  model: LanguageModelV4;
  config?: Partial<SessionConfig>;
  /** Limits on everything that the session and its subagents use. Default: none. */
  budget?: Budget;
  /** The last and strongest layer of the system prompt. */
  userInstructions?: string;
  /** Its abort closes the session. */
  signal?: AbortSignal;
  /** Asked before each tool call, of subagents too. Default: every call runs. */
  approve?: ApprovalHook;
  hooks?: Hooks;
  /**
   * Offer the model a tool by which it asks the user. While a question waits the state is `AWAITING_INPUT`, and
   * `submit()` answers it. Default false, for hosts that nobody sits before.
   */
  askUser?: boolean;
  subagents?: SubagentOptions;
  /** Prices model calls. Default: `catalogPriceOf`. */
  priceOf?: PriceOf;
  /** Gets the snapshot after each submit, and before the session ends. What it throws is reported as an `ERROR`. */
  persist?: (snapshot: SessionSnapshot) => void | Promise<void>;
  /** Clean the environment up when the session closes. Default false: whoever made it does. */
  ownsEnvironment?: boolean;
  /** Time and chance, for tests. */
  clock?: Clock;
};

/** Where a session begins that does not begin empty. Hosts call `Session.restore` or `Session.fork` instead. */
export type SessionOrigin = {
  snapshot?: SessionSnapshot;
  /** Of a subagent: whose budget its calls are charged to as well, and how many sessions are above it. */
  parent?: { meter: SpendMeter; depth: number };
};

export type SubmitOptions = {
  /**
   * The last answer has to be JSON of this schema, and `SubmitResult.output` holds it. A wire that can enforces it;
   * elsewhere the model is told, and told once more what is wrong. Then the input ends with the error `invalid_output`.
   */
  outputSchema?: OutputSchema;
};

/** What a `submit()` came to: the data of its `PROCESSING_END`, and the assistant's last text. */
export type SubmitResult = ProcessingEnd & {
  text: string;
  /** With `SubmitOptions.outputSchema` and reason `completed`. */
  output?: JsonObject;
};

/** The session cannot do that in its state. */
export class SessionStateError extends Error {
  override readonly name = 'SessionStateError';
}
