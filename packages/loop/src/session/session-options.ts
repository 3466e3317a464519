import type { LanguageModelV4 } from '@ai-sdk/provider';
import { WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import type { ApprovalHook } from '../control/approval.ts';
import type { Budget, SpendMeter } from '../control/budget.ts';
import type { Clock } from '../control/clock.ts';
import type { Hooks } from '../control/hooks.ts';
import type { SessionConfig } from '../control/session-config.ts';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { ProcessingEnd } from '../events/session-event.ts';
import type { OutputSchema } from '../loop/structured-output.ts';
import type { PriceOf } from '../profiles/model-catalog.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';
import type { SubagentOptions } from '../subagents/subagents.ts';

/** What a session does (loop spec 2.3). `AWAITING_INPUT`: a question of the model or a parked call waits for the host. */
export type SessionState = 'IDLE' | 'PROCESSING' | 'AWAITING_INPUT' | 'CLOSED';

/** Options of a session. Only `profile`, `environment` and `model` are required. */
export type SessionOptions = {
  /** The tools, the system prompt and the request options. See `createOpenAiProfile` and its like. */
  profile: ProviderProfile;
  /** Where the tools run. See `LocalExecutionEnvironment`. */
  environment: ExecutionEnvironment;
  /** Who answers. See `createModel`, or bring any `LanguageModelV4`. */
  model: LanguageModelV4;
  /** Settings and limits. Default: those of `SessionConfig`. */
  config?: Partial<SessionConfig>;
  /** Limits on what the session and its subagents use in all. Default: none. */
  budget?: Budget;
  /** Instructions of the host. They are the last layer of the system prompt and have precedence over the others. */
  userInstructions?: string;
  /** Its abort closes the session. */
  signal?: AbortSignal;
  /** Decides about each tool call before it runs, also about those of subagents. Default: every call runs. */
  approve?: ApprovalHook;
  hooks?: Hooks;
  /**
   * Whether the model gets a tool with which it asks the user. While a question waits, the state is `AWAITING_INPUT`,
   * and `submit()` answers the question. Default false, because there may be no user to ask.
   */
  askUser?: boolean;
  /** Limits and models of subagents. */
  subagents?: SubagentOptions;
  /** The price of a model call. Default: `catalogPriceOf`. */
  priceOf?: PriceOf;
  /**
   * Called with a snapshot after each `submit()`, and once more before the session ends. A throw or a rejection is
   * reported as an `ERROR` with code `session-persist-failed`. It may call `interrupt()` and `close()`, which then do not
   * wait for it.
   */
  persist?: (snapshot: SessionSnapshot) => void | Promise<void>;
  /** Whether `close()` also cleans the environment up. Default false: whoever made the environment does. */
  ownsEnvironment?: boolean;
  /** Time and random numbers, for tests. */
  clock?: Clock;
};

/** Where a session begins that does not begin empty. Hosts call `Session.restore` or `Session.fork` instead. */
export type SessionOrigin = {
  snapshot?: SessionSnapshot;
  /** Set for a subagent: the meter that its calls are charged to as well, and the number of sessions above it. */
  parent?: { meter: SpendMeter; depth: number };
};

/** Options of one `submit()`. */
export type SubmitOptions = {
  /**
   * The model's last answer has to be JSON that fits this schema; `SubmitResult.output` then holds it. The OpenAI
   * Responses wire sends the schema with each request, with another wire the model reads it as an instruction. Where
   * the answer does not fit, the model is asked once more; then the input ends with the error `output-invalid`. The
   * answer to a question of the model has the schema of the input that led to the question.
   */
  outputSchema?: OutputSchema;
};

/** The outcome of a `submit()`: the data of its `PROCESSING_END`, and the assistant's last text. */
export type SubmitResult = ProcessingEnd & {
  text: string;
  /** The answer as JSON. Set with `SubmitOptions.outputSchema` and reason `completed`. */
  output?: JsonObject;
};

/** A method was called in a state in which the session cannot do that. `message` names the method and the reason. */
export class SessionStateError extends WhetstoneError {
  override readonly name = 'SessionStateError';

  constructor(message: string) {
    super('session-state-wrong', message);
  }
}
