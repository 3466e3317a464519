/** Limits and settings of a session (loop spec 2.2). Every field has a default. */
export type SessionConfig = {
  /** Model calls in the whole session. 0: no limit. Default 0. */
  maxTurns: number;
  /** Rounds of tools that one input may lead to. 0: no limit. Default 200. */
  maxToolRoundsPerInput: number;
  /**
   * How long a command may run when the call does not say. Default: what the profile says (OpenAI 10 s, Anthropic
   * 120 s); a value here beats the profile.
   */
  defaultCommandTimeoutMs: number | undefined;
  /** Upper bound for any command, whatever the call says. Default 600,000. */
  maxCommandTimeoutMs: number;
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or what the provider knows. Default: the provider's. */
  reasoningEffort: string | undefined;
  /** Tokens that one response may have. Default: the profile's. */
  maxOutputTokens: number | undefined;
  /** Characters of a tool's output that the model reads, by tool name; beats the tool's own limit. */
  toolOutputLimits: Readonly<Record<string, number>>;
  /** Lines of a tool's output that the model reads, by tool name; beats the tool's own limit. */
  toolLineLimits: Readonly<Record<string, number>>;
  /** Warn the model when its calls repeat in a cycle. Default true. */
  enableLoopDetection: boolean;
  /** Calls that the cycle must fill. Default 10. */
  loopDetectionWindow: number;
  /** Warnings about a loop after which an input ends with reason `loop`. 0: it never does. Default 0. */
  maxLoopWarnings: number;
  /** How deep subagents may nest; 0: there are none, and no tools for them. Default 1. */
  maxSubagentDepth: number;
  /**
   * When a message of `steer()` is read: after all calls of a response, or as soon as the calls that have started are
   * done; those that have not are answered as skipped. Default `after_round`.
   */
  steeringMode: 'after_round' | 'tool_boundary';
  /** Attempts after the first for a model call that failed in passing. Default 2. */
  maxRetries: number;
  /** A model stream that stays silent for so long counts as broken; heartbeats are silence. 0: never. Default 120,000. */
  streamIdleTimeoutMs: number;
};

const defaults: SessionConfig = {
  maxTurns: 0,
  maxToolRoundsPerInput: 200,
  defaultCommandTimeoutMs: undefined,
  maxCommandTimeoutMs: 600_000,
  reasoningEffort: undefined,
  maxOutputTokens: undefined,
  toolOutputLimits: {},
  toolLineLimits: {},
  enableLoopDetection: true,
  loopDetectionWindow: 10,
  maxLoopWarnings: 0,
  maxSubagentDepth: 1,
  steeringMode: 'after_round',
  maxRetries: 2,
  streamIdleTimeoutMs: 120_000,
};

/** The whole configuration; throws a `RangeError` that names the field where a number makes no sense. */
export function resolveSessionConfig(given: Partial<SessionConfig> = {}): SessionConfig {
  const config = { ...defaults, ...given };
  for (const [name, value] of Object.entries(config)) {
    if (typeof value === 'number' && !(Number.isFinite(value) && value >= 0)) {
      throw new RangeError(`SessionConfig.${name} is ${value}; it has to be 0 or more`);
    }
  }
  return config;
}
