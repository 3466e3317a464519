import { present } from '@whetstone/events/present';
import { addUsage, emptyUsage, totalTokens, type Usage } from '@whetstone/events/usage';
import type { Spent } from '../conversation/snapshot.ts';
import type { LimitKind } from '../events/session-event.ts';
import { count, type Kind, refuseUnknown } from './check-options.ts';
import { LONGEST_TIMER_MS } from './clock.ts';

/**
 * Limits on what a session and its subagents use together, over all inputs. 0 or absent: no limit.
 *
 * Limits are checked before each model call, so the call that crosses one is still paid for. `wallTimeMs` is the only
 * limit that also stops work in progress.
 */
export type Budget = {
  /** Model calls. */
  turns?: number;
  /** Responses of the model with tool calls. */
  toolRounds?: number;
  /** Input, cache and output tokens together. */
  tokens?: number;
  /** US dollars. With this limit, a call whose price is not known ends the input with an error. */
  costUsd?: number;
  /** Milliseconds of work, from each `submit()` to its end, without the time in which the session waits for the user. */
  wallTimeMs?: number;
};

/** What was used. `costUsd` is in US dollars, and `undefined` as soon as the price of one call is not known. */
export type Totals = { usage: Usage; costUsd: number | undefined; modelCalls: number; toolRounds: number };

/** A limit that is used up. `value` is its setting. */
type LimitReached = { limit: LimitKind; value: number };

const limits = { turns: count, toolRounds: count, tokens: count, costUsd: count, wallTimeMs: count };

/** Returns the budget. Throws a `WhetstoneError` that names the field where one is not a limit of 0 or more. */
export function checkBudget(budget: Budget): Budget {
  refuseUnknown('Budget', budget, limits satisfies Record<keyof Budget, Kind>);
  return budget;
}

/** Counts what a session uses: per submit, in the whole session, and in every session above it. */
export class SpendMeter {
  readonly #budget: Budget;
  readonly #parent: SpendMeter | undefined;
  readonly #whole: Totals & { turns: number; rounds: number };
  #submit = emptyTotals();
  #workedMs: number;
  #workingSince: number | undefined;

  constructor(budget: Budget = {}, parent?: SpendMeter, spent?: Spent) {
    this.#budget = checkBudget(budget);
    this.#parent = parent;
    const { turns = 0, rounds = 0, workedMs = 0, ...totals } = spent ?? {};
    this.#whole = { ...emptyTotals(), ...(spent && { costUsd: undefined }), ...totals, turns, rounds };
    this.#workedMs = workedMs;
  }

  /** What was used since the last `beginSubmit`. */
  get submit(): Readonly<Totals> {
    return this.#submit;
  }

  get whole(): Readonly<Totals> {
    return this.#whole;
  }

  get spent(): Spent {
    const { costUsd, ...counters } = this.#whole;
    return { ...counters, ...present({ costUsd }), workedMs: this.#worked() };
  }

  beginSubmit(): void {
    this.#submit = emptyTotals();
    this.work();
  }

  /** Starts the clock of `wallTimeMs`, unless it runs. `rest()` stops it. */
  work(): void {
    this.#workingSince ??= performance.now();
  }

  rest(): void {
    this.#workedMs = this.#worked();
    this.#workingSince = undefined;
  }

  addCall(usage: Usage | undefined, costUsd: number | undefined): void {
    this.#submit.modelCalls += 1;
    this.#whole.modelCalls += 1;
    this.#take(usage, costUsd, 1);
  }

  /** What an attempt used whose answer does not count. */
  addAttempt(usage: Usage, costUsd: number | undefined): void {
    this.#take(usage, costUsd, 0);
  }

  addRound(): void {
    this.#submit.toolRounds += 1;
    this.#whole.toolRounds += 1;
    for (let meter: SpendMeter | undefined = this; meter; meter = meter.#parent) meter.#whole.rounds += 1;
  }

  /** A limit that is used up, of this session or of a session above it. */
  reached(): LimitReached | undefined {
    const { turns, toolRounds, tokens, costUsd, wallTimeMs } = this.#budget;
    const { usage, costUsd: cost = 0, turns: usedTurns, rounds } = this.#whole;
    if (turns && usedTurns >= turns) return { limit: 'turns', value: turns };
    if (toolRounds && rounds >= toolRounds) return { limit: 'rounds', value: toolRounds };
    if (tokens && totalTokens(usage) >= tokens) return { limit: 'tokens', value: tokens };
    if (costUsd && cost >= costUsd) return { limit: 'cost', value: costUsd };
    if (wallTimeMs && this.#worked() >= wallTimeMs) return { limit: 'wall_time', value: wallTimeMs };
    return this.#parent?.reached();
  }

  /** Whether this session or a session above it has a cost limit. */
  get limitsCost(): boolean {
    return Boolean(this.#budget.costUsd) || (this.#parent?.limitsCost ?? false);
  }

  /** Whether this session or a session above it has a limit on tokens. */
  get limitsTokens(): boolean {
    return Boolean(this.#budget.tokens) || (this.#parent?.limitsTokens ?? false);
  }

  /** Milliseconds until a wall time of this session or of one above it is used up. `undefined`: there is no limit. */
  remainingMs(): number | undefined {
    const own = this.#budget.wallTimeMs ? this.#budget.wallTimeMs - this.#worked() : undefined;
    const above = this.#parent?.remainingMs();
    return own === undefined ? above : Math.min(own, above ?? Number.POSITIVE_INFINITY);
  }

  #take(usage: Usage | undefined, costUsd: number | undefined, turns: number): void {
    take(this.#submit, usage, costUsd);
    take(this.#whole, usage, costUsd);
    this.#whole.turns += turns;
    if (this.#parent) this.#parent.#take(usage, costUsd, turns);
  }

  #worked(): number {
    return this.#workedMs + (this.#workingSince === undefined ? 0 : performance.now() - this.#workingSince);
  }
}

function take(totals: Totals, usage: Usage | undefined, costUsd: number | undefined): void {
  if (usage) totals.usage = addUsage(totals.usage, usage);
  totals.costUsd = plus(totals.costUsd, costUsd);
}

function emptyTotals(): Totals {
  return { usage: emptyUsage(), costUsd: 0, modelCalls: 0, toolRounds: 0 };
}

/** `undefined` where one of the two is not known. */
export function plus(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left + right;
}

/** Least time between two looks: while the meter's clock is stopped, the remaining time does not shrink. */
const SHORTEST_TIMER_MS = 20;

/** Calls `onOver` once, when the wall time of the meter is used up. Dispose of the result to stop watching. */
export function watchWallTime(meter: SpendMeter, onOver: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    const remaining = meter.remainingMs();
    if (remaining === undefined) return;
    if (remaining <= 0) onOver();
    else timer = setTimeout(watch, Math.min(Math.max(remaining, SHORTEST_TIMER_MS), LONGEST_TIMER_MS));
  };
  watch();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
