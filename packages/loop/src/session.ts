import type { LanguageModelV4 } from '@ai-sdk/provider';
import { addUsage, emptyUsage } from '@whetstone/events';
import { type Clock, systemClock } from './clock.ts';
import type { ExecutionEnvironment } from './environment/execution-environment.ts';
import { EventHub, type EventListener } from './event-hub.ts';
import { History } from './history.ts';
import { type LoopOutcome, runLoop } from './loop.ts';
import type { LoopContext, PriceOf, Totals } from './loop-context.ts';
import { LoopDetector } from './loop-detection.ts';
import { buildPreamble, type Preamble } from './preamble.ts';
import type { ProviderProfile } from './profiles/provider-profile.ts';
import { resolveSessionConfig, type SessionConfig } from './session-config.ts';
import type { ProcessingEnd, SessionEvent, SessionEventData } from './session-event.ts';
import { checkSnapshot, type SessionSnapshot } from './snapshot.ts';
import type { ApprovalHook } from './tools/run-tool-calls.ts';
import { type Input, type Turn, wellFormedInput } from './turn.ts';

/** Loop spec 2.3. `AWAITING_INPUT` is for tools that ask the user. */
export type SessionState = 'IDLE' | 'PROCESSING' | 'AWAITING_INPUT' | 'CLOSED';

export type SessionOptions = {
  profile: ProviderProfile;
  environment: ExecutionEnvironment;
  /** See `createModel`, or bring any `LanguageModelV4`. */
  model: LanguageModelV4;
  config?: Partial<SessionConfig>;
  /** The last and strongest layer of the system prompt. */
  userInstructions?: string;
  /** Its abort closes the session. */
  signal?: AbortSignal;
  /** Asked before each tool call. Default: every call runs. */
  approve?: ApprovalHook;
  /** Prices model calls, so that results carry `costUsd`. */
  priceOf?: PriceOf;
  /** Clean the environment up when the session closes. Default false: whoever made it does. */
  ownsEnvironment?: boolean;
  /** Time and chance, for tests. */
  clock?: Clock;
};

/** What a `submit()` came to: the data of its `PROCESSING_END`, and the assistant's last text. */
export type SubmitResult = ProcessingEnd & { text: string };

/** The session cannot do that in its state. */
export class SessionStateError extends Error {
  override readonly name = 'SessionStateError';
}

/**
 * A conversation with a coding agent: history, events and control (loop spec 2.1). The loop itself is `runLoop`.
 *
 * Made with `new`, because nothing starts before the first `submit()`: no file is read and no model is called. End it
 * with `close()` or `await using`.
 */
export class Session implements AsyncDisposable {
  readonly id: string;
  readonly #context: LoopContext;
  readonly #hub: EventHub;
  readonly #options: SessionOptions;
  readonly #followUps: Input[] = [];
  readonly #closing = new AbortController();
  readonly #sessionTotals = emptyTotals();
  #state: SessionState = 'IDLE';
  #preamble: { profile: ProviderProfile; built: Promise<Preamble> } | undefined;
  #interruption: AbortController | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(options: SessionOptions, snapshot?: SessionSnapshot) {
    const { profile, environment, model, clock = systemClock } = options;
    const config = resolveSessionConfig(options.config);
    this.#options = options;
    this.id = snapshot?.id ?? crypto.randomUUID();
    this.#hub = new EventHub(this.id, clock.now);
    this.#context = {
      sessionId: this.id,
      history: new History(clock.now, snapshot?.turns),
      environment,
      emit: (kind, data) => this.#hub.emit(kind, data),
      clock,
      loopDetector: new LoopDetector(config.loopDetectionWindow),
      approve: options.approve,
      priceOf: options.priceOf,
      steering: [],
      totals: emptyTotals(),
      config,
      profile,
      model,
      preamble: (signal) => this.#currentPreamble(signal),
    };
    if (snapshot?.preamble) this.#preamble = { profile, built: Promise.resolve(snapshot.preamble) };
    this.#hub.emit('SESSION_START', {
      profile: profile.id,
      provider: model.provider,
      model: model.modelId,
      workingDirectory: environment.workingDirectory(),
    });
    if (options.signal?.aborted) this.#closeQuietly();
    else options.signal?.addEventListener('abort', this.#closeQuietly, { once: true });
  }

  /** A session that goes on where a snapshot was taken. Throws a `TypeError` for what is no snapshot. */
  static restore(snapshot: unknown, options: SessionOptions): Session {
    return new Session(options, checkSnapshot(snapshot));
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The turns so far, in order. The list itself, which grows; do not change it. */
  get history(): readonly Turn[] {
    return this.#context.history.turns;
  }

  /** The conversation as JSON, lossless. Calls that run now appear as interrupted when it is restored. */
  async snapshot(): Promise<SessionSnapshot> {
    const preamble = await this.#preamble?.built.catch(() => undefined);
    return { version: 1, id: this.id, turns: [...this.history], ...(preamble ? { preamble } : {}) };
  }

  /**
   * Works on an input, then on queued follow-ups, until the model is done, a limit is reached or it is interrupted. What
   * goes wrong with the model is in the result (`reason`, `error`). Rejects with a `SessionStateError` while another
   * input is in work or after `close()`, and with a `TypeError` for an empty input.
   */
  async submit(input: Input): Promise<SubmitResult> {
    this.#refuseWhenClosed();
    if (this.#state === 'PROCESSING') {
      throw new SessionStateError('submit: the session works on another input; use steer() or followUp()');
    }
    const checked = checkInput('submit', input);
    this.#state = 'PROCESSING';
    const chain = this.#runChain(checked);
    this.#running = chain.catch(() => {});
    const result = await chain;
    // Nothing will work any more with a key that was refused.
    if (result.error?.code === 'authentication') await this.#shutDown('error');
    return result;
  }

  /** Queues a message that the model reads before its next call; while idle, with the next `submit()`. */
  steer(message: Input): void {
    this.#refuseWhenClosed();
    this.#context.steering.push(checkInput('steer', message));
  }

  /** Queues an input to be worked on once the present one is completed; while idle, after the next one. */
  followUp(message: Input): void {
    this.#refuseWhenClosed();
    this.#followUps.push(checkInput('followUp', message));
  }

  /** Stops the present work and repairs the history; resolves when the session is idle again. */
  async interrupt(): Promise<void> {
    this.#interruption?.abort();
    await this.#running;
  }

  /** Stops everything and ends the session. From any state, any number of times. */
  async close(): Promise<void> {
    await this.#shutDown('closed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** An iterator of its own for each consumer, from `SESSION_START` to `SESSION_END`. */
  events(): AsyncIterableIterator<SessionEvent, undefined> {
    return this.#hub.events();
  }

  /** Calls `listener` for every event, synchronously. Returns the way to stop. */
  on(listener: EventListener): () => void {
    return this.#hub.on(listener);
  }

  /** From the next model call on. Reasoning and signatures of another provider are left out of its requests. */
  setModel(model: LanguageModelV4): void {
    this.#refuseWhenClosed();
    this.#context.model = model;
  }

  /** From the next model call on, with the profile's tools and system prompt. */
  setProfile(profile: ProviderProfile): void {
    this.#refuseWhenClosed();
    this.#context.profile = profile;
  }

  /** From the next model call on; `undefined` leaves it to the provider. */
  setReasoningEffort(effort: string | undefined): void {
    this.#refuseWhenClosed();
    this.#context.config = { ...this.#context.config, reasoningEffort: effort };
  }

  readonly #closeQuietly = () => void this.#shutDown('aborted').catch(() => {});

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted)
      throw new SessionStateError('the session is closed; make or restore another');
  }

  async #runChain(first: Input): Promise<SubmitResult> {
    const context = this.#context;
    const started = performance.now();
    this.#interruption = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, this.#interruption.signal]);
    Object.assign(context.totals, emptyTotals());
    let outcome = await this.#runOne(first, signal);
    for (let next = this.#nextFollowUp(outcome); next !== undefined; next = this.#nextFollowUp(outcome)) {
      outcome = await this.#runOne(next, signal);
    }
    this.#interruption = undefined;
    const { usage, costUsd, modelCalls, toolRounds } = context.totals;
    addTotals(this.#sessionTotals, context.totals);
    const end: ProcessingEnd = {
      reason: outcome.reason === 'interrupted' && this.#closing.signal.aborted ? 'aborted' : outcome.reason,
      usage,
      ...(costUsd === undefined ? {} : { costUsd }),
      modelCalls,
      toolRounds,
      durationMs: Math.round(performance.now() - started),
      queued: this.#followUps.length + context.steering.length,
      ...(outcome.error === undefined ? {} : { error: outcome.error }),
    };
    this.#state = 'IDLE';
    this.#hub.emit('PROCESSING_END', end);
    return { ...end, text: outcome.text };
  }

  #nextFollowUp(outcome: LoopOutcome): Input | undefined {
    return outcome.reason === 'completed' ? this.#followUps.shift() : undefined;
  }

  async #runOne(input: Input, signal: AbortSignal): Promise<LoopOutcome> {
    try {
      await initializeOnce(this.#context.environment);
      return await runLoop(this.#context, input, signal);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const data = { code: 'internal', message };
      this.#hub.emit('ERROR', data);
      return { reason: 'error', text: '', error: data };
    }
  }

  /** Frozen for each profile: a session that goes back and forth keeps only the last one. */
  #currentPreamble(signal: AbortSignal): Promise<Preamble> {
    const { profile, environment, clock } = this.#context;
    if (this.#preamble?.profile !== profile) {
      const { userInstructions } = this.#options;
      const built = buildPreamble({ profile, environment, userInstructions, now: clock.now(), signal });
      this.#preamble = { profile, built };
      // What failed or was interrupted half way must not be frozen.
      const forget = () => {
        if (this.#preamble?.built === built) this.#preamble = undefined;
      };
      built.then(() => signal.aborted && forget(), forget);
    }
    return this.#preamble.built;
  }

  /** Refuse input → abort the model and the tools → wait until the history is whole → SESSION_END → clean up → CLOSED. */
  #shutDown(reason: SessionEventData['SESSION_END']['reason']): Promise<void> {
    this.#closed ??= (async () => {
      this.#closing.abort();
      this.#options.signal?.removeEventListener('abort', this.#closeQuietly);
      await this.#running;
      const { history, environment } = this.#context;
      this.#hub.emit('SESSION_END', {
        turns: history.assistantTurns,
        usage: this.#sessionTotals.usage,
        reason,
      });
      this.#hub.close();
      this.#state = 'CLOSED';
      if (this.#options.ownsEnvironment) await environment.cleanup?.();
    })();
    return this.#closed;
  }
}

/** Sessions may share an environment; it is initialised by the first. */
const initialised = new WeakMap<ExecutionEnvironment, Promise<void>>();

function initializeOnce(environment: ExecutionEnvironment): Promise<void> {
  const known = initialised.get(environment);
  if (known) return known;
  const promise = Promise.resolve(environment.initialize?.());
  initialised.set(environment, promise);
  promise.catch(() => initialised.delete(environment));
  return promise;
}

function checkInput(method: string, input: Input): Input {
  const empty =
    typeof input === 'string'
      ? input.trim() === ''
      : input.every((part) => part.type === 'text' && !part.text);
  if (empty) throw new TypeError(`${method}: the input is empty`);
  return wellFormedInput(input);
}

function emptyTotals(): Totals {
  return { usage: emptyUsage(), costUsd: undefined, modelCalls: 0, toolRounds: 0 };
}

function addTotals(sum: Totals, part: Totals): void {
  sum.usage = addUsage(sum.usage, part.usage);
  sum.modelCalls += part.modelCalls;
  sum.toolRounds += part.toolRounds;
}
