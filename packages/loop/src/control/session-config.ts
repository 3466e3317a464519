import { count, flag, isCount, type Kind, object, oneOf, refuseUnknown, text } from './check-options.ts';

/** Limits and settings of a session (loop spec 2.2). `SessionOptions.config` takes any part of them. */
export type SessionConfig = {
  /** Model calls in the whole session. 0: no limit. Default 0. */
  maxTurns: number;
  /** Responses of the model with tool calls, per input. 0: no limit. Default 200. */
  maxToolRoundsPerInput: number;
  /** Milliseconds for a command without a limit. Default: the profile's (OpenAI 10 s, Anthropic 120 s). */
  defaultCommandTimeoutMs: number | undefined;
  /** Milliseconds that any command may run, whatever the call says. Default 600,000. */
  maxCommandTimeoutMs: number;
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max` or a level of the provider. Default: the provider's. */
  reasoningEffort: string | undefined;
  /** Tokens of one response at most. Default: the profile's. */
  maxOutputTokens: number | undefined;
  /** Tokens that the model can take. Default: of the session's model by the kept lists, else of the profile. */
  contextWindowSize: number | undefined;
  /** Characters of a tool's output that the model reads, by tool name. Has precedence over the tool's own limit. */
  toolOutputLimits: Readonly<Record<string, number>>;
  /** Lines of a tool's output that the model reads, by tool name. Has precedence over the tool's own limit. */
  toolLineLimits: Readonly<Record<string, number>>;
  /** Warn the model when its calls repeat in a cycle. Default true. */
  enableLoopDetection: boolean;
  /** Number of last calls that must all fit one cycle before the model is warned. Default 10. */
  loopDetectionWindow: number;
  /** Warnings about a cycle after which an input ends with reason `loop`. 0: never. Default 0. */
  maxLoopWarnings: number;
  /** How deep subagents may nest. 0: there are none, and the model gets no tools for them. Default 1. */
  maxSubagentDepth: number;
  /**
   * When the model reads a message of `steer()`. Default `after_round`.
   * - `after_round`: after all tool calls of the response.
   * - `tool_boundary`: as soon as the calls that have started are done. The others are answered as skipped.
   */
  steeringMode: 'after_round' | 'tool_boundary';
  /** Further attempts at a model call that failed for a reason that may pass. Default 2. */
  maxRetries: number;
  /** Milliseconds of silence, heartbeats aside, after which a stream counts as broken. 0: never. Default 120,000. */
  streamIdleTimeoutMs: number;
};

const defaults: SessionConfig = {
  maxTurns: 0,
  maxToolRoundsPerInput: 200,
  defaultCommandTimeoutMs: undefined,
  maxCommandTimeoutMs: 600_000,
  reasoningEffort: undefined,
  maxOutputTokens: undefined,
  contextWindowSize: undefined,
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

const counts: Kind = {
  what: 'an object of numbers of 0 or more, by tool name',
  fits: (value) => object.fits(value) && Object.values(Object(value)).every(isCount),
};

const kinds: Readonly<Record<keyof SessionConfig, Kind>> = {
  maxTurns: count,
  maxToolRoundsPerInput: count,
  defaultCommandTimeoutMs: count,
  maxCommandTimeoutMs: count,
  reasoningEffort: text,
  maxOutputTokens: count,
  contextWindowSize: count,
  toolOutputLimits: counts,
  toolLineLimits: counts,
  enableLoopDetection: flag,
  loopDetectionWindow: count,
  maxLoopWarnings: count,
  maxSubagentDepth: count,
  steeringMode: oneOf('after_round', 'tool_boundary'),
  maxRetries: count,
  streamIdleTimeoutMs: count,
};

/** The given settings over the defaults. Throws a `WhetstoneError` that names the field where one is not a setting. */
export function resolveSessionConfig(given: Partial<SessionConfig> = {}): SessionConfig {
  refuseUnknown('SessionConfig', given, kinds);
  return { ...defaults, ...definedOf(given) };
}

/** A field that is given as `undefined` has its default. */
function definedOf(given: Partial<SessionConfig>): Partial<SessionConfig> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
