import { addUsage, emptyUsage, totalTokens, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Spent } from '../conversation/snapshot.ts';
import type { LimitKind } from '../events/session-event.ts';

/**
 * What a session and its subagents may use together, over all inputs. 0 or absent: no limit. Checked before each model
 * call, so the call that crosses a limit is still paid for; `wallTimeMs` also stops what runs.
 */
export type Budget = {
  /** Model calls. */
  turns?: number;
  toolRounds?: number;
  /** Input, cache and output tokens together. */
  tokens?: number;
  /** A call whose price is not known ends the input with an error, because nothing could hold it to this limit. */
  costUsd?: number;
  /** Time of work: from each `submit()` to its end, without the time for which the session awaits an answer. */
  wallTimeMs?: number;
};

/** What was used. `costUsd` is `undefined` as soon as the price of one call is not known. */
export type Totals = { usage: Usage; costUsd: number | undefined; modelCalls: number; toolRounds: number };

export type LimitReached = { limit: LimitKind; value: number };

type Counters = Totals & { turns: number; rounds: number };

/** Throws a `RangeError` that names the field where a number makes no sense. */
export function checkBudget(budget: Budget): Budget {
  for (const [name, value] of Object.entries(budget)) {
    if (!(Number.isFinite(value) && value >= 0))
      throw new RangeError(`Budget.${name} is ${value}; it has to be 0 or more`);
  }
  return budget;
}

/** Adds up what a session uses, for one submit and in all, and in every session above it. */
export class SpendMeter {
  readonly #budget: Budget;
  readonly #parent: SpendMeter | undefined;
  readonly #whole: Counters;
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

  /** Since the last `beginSubmit`. */
  get submit(): Readonly<Totals> {
    return this.#submit;
  }

  get whole(): Readonly<Totals> {
    return this.#whole;
  }

  /** For a snapshot. */
  get spent(): Spent {
    const { costUsd, ...counters } = this.#whole;
    return { ...counters, ...present({ costUsd }), workedMs: this.#worked() };
  }

  beginSubmit(): void {
    this.#submit = emptyTotals();
    this.work();
  }

  /** The clock of `wallTimeMs` runs from here to `rest()`. */
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
    this.#take(usage, costUsd);
  }

  addRound(): void {
    this.#submit.toolRounds += 1;
    this.#whole.toolRounds += 1;
    for (let meter: SpendMeter | undefined = this; meter; meter = meter.#parent) meter.#whole.rounds += 1;
  }

  /** The first limit that is used up, of this session or of one above it. */
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

  /** Whether a call without a known price breaks a promise. */
  get limitsCost(): boolean {
    return Boolean(this.#budget.costUsd) || (this.#parent?.limitsCost ?? false);
  }

  /** Milliseconds until the wall time of this session or of one above it is used up. */
  remainingMs(): number | undefined {
    const own = this.#budget.wallTimeMs ? this.#budget.wallTimeMs - this.#worked() : undefined;
    const above = this.#parent?.remainingMs();
    return own === undefined ? above : Math.min(own, above ?? Number.POSITIVE_INFINITY);
  }

  #take(usage: Usage | undefined, costUsd: number | undefined): void {
    for (const totals of [this.#submit, this.#whole]) {
      if (usage) totals.usage = addUsage(totals.usage, usage);
      totals.costUsd = plus(totals.costUsd, costUsd);
    }
    this.#whole.turns += 1;
    if (this.#parent) this.#parent.#take(usage, costUsd);
  }

  #worked(): number {
    return this.#workedMs + (this.#workingSince === undefined ? 0 : performance.now() - this.#workingSince);
  }
}

function emptyTotals(): Totals {
  return { usage: emptyUsage(), costUsd: 0, modelCalls: 0, toolRounds: 0 };
}

function plus(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left + right;
}
