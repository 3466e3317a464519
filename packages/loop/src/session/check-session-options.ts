import { isDeepStrictEqual } from 'node:util';
import { checkedApproval } from '../control/approval.ts';
import {
  callable,
  count,
  flag,
  type Kind,
  object,
  objectWith,
  refuseUnknown,
  text,
} from '../control/check-options.ts';
import { systemClock } from '../control/clock.ts';
import { boundHooks, type Hooks } from '../control/hooks.ts';
import type { OutputSchema } from '../loop/structured-output.ts';
import type { SubagentOptions } from '../subagents/subagents.ts';
import { type SessionOptions, SessionStateError, type SubmitOptions } from './session-options.ts';

const options: Readonly<Record<keyof SessionOptions, Kind>> = {
  profile: objectWith('a profile', 'buildSystemPrompt', 'tools'),
  environment: objectWith('an environment', 'workingDirectory', 'exec'),
  model: objectWith('a model', 'doStream'),
  config: object,
  budget: object,
  userInstructions: text,
  signal: objectWith('an AbortSignal', 'addEventListener'),
  approve: callable,
  hooks: object,
  askUser: flag,
  subagents: object,
  priceOf: callable,
  persist: callable,
  ownsEnvironment: flag,
  clock: objectWith('a clock', 'now', 'random', 'sleep'),
};

const hooks: Readonly<Record<keyof Hooks, Kind>> = {
  beforeSubmit: callable,
  beforeTool: callable,
  afterTool: callable,
  beforeStop: callable,
  onContextOverflow: callable,
};

const subagents: Readonly<Record<keyof SubagentOptions, Kind>> = {
  maxTurns: count,
  costUsd: count,
  maxRunning: count,
  resolveModel: callable,
};

/**
 * The options with a clock, and with the hooks as functions. Throws a `WhetstoneError` that names the field where an
 * option does not exist or fit: a misspelt hook would guard nothing, and nobody would notice. `config` and `budget` are
 * checked where they are read.
 */
export function checkedOptions(given: SessionOptions) {
  refuseUnknown('SessionOptions', given, options, ['profile', 'environment', 'model']);
  if (given.hooks) refuseUnknown('SessionOptions.hooks', given.hooks, hooks);
  if (given.subagents) refuseUnknown('SessionOptions.subagents', given.subagents, subagents);
  const { clock = systemClock, approve } = given;
  return {
    ...given,
    clock,
    hooks: boundHooks(given.hooks),
    ...(approve && { approve: checkedApproval(approve) }),
  };
}

const submitOptions: Readonly<Record<keyof SubmitOptions, Kind>> = { outputSchema: object };

/** The same for `submit()`. The schema itself is checked before the first model call. */
export function checkedSubmitOptions(given: SubmitOptions): SubmitOptions {
  refuseUnknown('SubmitOptions', given, submitOptions);
  return given;
}

/**
 * The answer to a question belongs to the input that led to the question, and that input's schema holds.
 * @throws SessionStateError for another schema: it would not be applied.
 */
export function refuseOtherSchema(asked: OutputSchema | undefined, current: OutputSchema | undefined): void {
  if (asked === undefined || isDeepStrictEqual(asked, current)) return;
  throw new SessionStateError(
    'submit: the answer to a question takes no outputSchema of its own. Set it with the input that leads to the question.',
  );
}
