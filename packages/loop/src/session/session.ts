import type { LanguageModelV4 } from '@ai-sdk/provider';
import { present } from '@whetstone/events/present';
import type { FinalDecision } from '../control/approval.ts';
import { SpendMeter } from '../control/budget.ts';
import { systemClock } from '../control/clock.ts';
import { resolveSessionConfig } from '../control/session-config.ts';
import { SteeringQueue } from '../control/steering-queue.ts';
import { History } from '../conversation/history.ts';
import type { Preamble } from '../conversation/preamble.ts';
import {
  type ChildRequest,
  checkSnapshot,
  type SessionSnapshot,
  snapshotAt,
} from '../conversation/snapshot.ts';
import type { Input, Turn } from '../conversation/turn.ts';
import { EventHub, type EventListener } from '../events/event-hub.ts';
import type { ProcessingEnd, SessionEvent, SessionEventData } from '../events/session-event.ts';
import { catalogPriceOf } from '../llm/model-catalog.ts';
import type { LoopContext, LoopOutcome, LoopStart } from '../loop/loop-context.ts';
import { LoopDetector } from '../loop/loop-detector.ts';
import { abandonRound, endParkedCalls } from '../loop/tool-round.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';
import type { Child } from '../subagents/subagent.ts';
import { createSubagentTools } from '../subagents/subagent-tools.ts';
import { Subagents } from '../subagents/subagents.ts';
import { type AskUser, createAskUserTool, type Question } from '../tools/ask-user-tool.ts';
import { endSessionProcesses } from '../tools/process-sessions.ts';
import { type SessionTool, sessionTools } from '../tools/session-tools.ts';
import { checkInput } from './check-input.ts';
import { childOptions } from './child-options.ts';
import { FrozenPreamble } from './frozen-preamble.ts';
import { ParkedArguments } from './parked-arguments.ts';
import {
  type SessionOptions,
  type SessionState,
  SessionStateError,
  type SubmitOptions,
  type SubmitResult,
} from './session-options.ts';
import { runChain } from './submit-chain.ts';

/** Where a session begins. Hosts use `Session.restore` and `fork` instead. */
export type SessionOrigin = {
  snapshot?: SessionSnapshot;
  parent?: { meter: SpendMeter; depth: number };
};

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
  readonly #depth: number;
  readonly #followUps: Input[];
  readonly #closing = new AbortController();
  readonly #subagents: Subagents;
  readonly #preamble: FrozenPreamble;
  readonly #parkedArguments: ParkedArguments;
  /** What the last request began with, and for which profile. */
  #sentPreamble: { profile: ProviderProfile; preamble: Preamble } | undefined;
  #state: SessionState = 'IDLE';
  #interruption: AbortController | undefined;
  #question: ((answer: Input) => void) | undefined;
  #chain: Promise<SubmitResult> | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(options: SessionOptions, { snapshot, parent }: SessionOrigin = {}) {
    const { profile, environment, model, clock = systemClock } = options;
    const { reasoningEffort = snapshot?.reasoningEffort, ...given } = options.config ?? {};
    const config = resolveSessionConfig({ ...given, reasoningEffort });
    this.#options = options;
    this.#depth = parent?.depth ?? 0;
    this.id = snapshot?.id ?? crypto.randomUUID();
    this.#followUps = [...(snapshot?.followUps ?? [])];
    this.#hub = new EventHub(this.id, clock.now);
    this.#sentPreamble = snapshot?.preamble && { profile, preamble: snapshot.preamble };
    this.#preamble = new FrozenPreamble(this.#sentPreamble);
    this.#parkedArguments = new ParkedArguments(snapshot?.parkedArguments);
    const steering = new SteeringQueue(snapshot?.steering);
    this.#subagents = new Subagents({
      makeChild: (request, kept) => this.#makeChild(request, kept),
      hub: this.#hub,
      steering,
      origin: { parentSessionId: this.id, depth: this.#depth + 1 },
      maxRunning: options.subagents?.maxRunning,
      kept: snapshot?.subagents,
    });
    this.#context = {
      sessionId: this.id,
      history: new History(clock.now, snapshot?.turns, { open: snapshot?.parked !== undefined }),
      environment,
      emit: (kind, data) => this.#hub.emit(kind, data),
      clock,
      loopDetector: new LoopDetector(config.loopDetectionWindow),
      ...this.#parkedArguments.around({ hooks: options.hooks ?? {}, approve: options.approve }),
      priceOf: options.priceOf ?? catalogPriceOf,
      steering,
      meter: new SpendMeter(options.budget, parent?.meter, snapshot?.spent),
      announced: new Set(),
      parked: snapshot?.parked,
      foreignTurns: snapshot?.foreignTurns ?? 0,
      config,
      profile,
      model,
      tools: this.#toolsOf(profile, config.maxSubagentDepth),
      preamble: (signal) => this.#preambleFor(signal),
    };
    if (this.#context.history.openCalls().length === 0) this.#context.parked = undefined;
    if (this.#context.parked) this.#state = 'AWAITING_INPUT';
    this.#hub.emit('SESSION_START', {
      profile: profile.id,
      provider: model.provider,
      model: model.modelId,
      workingDirectory: environment.workingDirectory(),
      ...(snapshot && { restored: true }),
    });
    if (options.signal?.aborted) this.#closeQuietly();
    else options.signal?.addEventListener('abort', this.#closeQuietly, { once: true });
  }

  /** A session that goes on where a snapshot was taken. Throws a `TypeError` for what is no snapshot. */
  static restore(snapshot: unknown, options: SessionOptions): Session {
    return new Session(options, { snapshot: checkSnapshot(snapshot) });
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The turns so far, in order. The list itself, which grows; do not change it. */
  get history(): readonly Turn[] {
    return this.#context.history.turns;
  }

  /**
   * The conversation as JSON, lossless, with its subagents. Calls that run now appear as interrupted when it is restored,
   * and so do subagents that work.
   */
  async snapshot(): Promise<SessionSnapshot> {
    return this.#snapshotNow();
  }

  /**
   * Another session that goes on from an earlier point, on the same environment: after the turn with the id `atTurn`, or
   * after so many turns. Default: from here. Its budget counts from 0. Subagents stay with this session: they work on the
   * same files, and what they were at an earlier turn is not kept. Rejects with a `RangeError` for an unknown turn.
   */
  async fork(atTurn: string | number = this.history.length): Promise<Session> {
    this.#refuseWhenClosed();
    const { spent: _, subagents: __, ...snapshot } = snapshotAt(this.#snapshotNow(), atTurn);
    const { profile, model, config } = this.#context;
    const { signal: _signal, ...options } = this.#options;
    return new Session(
      { ...options, profile, model, config, ownsEnvironment: false },
      { snapshot: { ...snapshot, id: crypto.randomUUID() } },
    );
  }

  /**
   * Works on an input, then on queued follow-ups, until the model is done, a limit is reached or it is interrupted. What
   * goes wrong with the model is in the result (`reason`, `error`). While the model waits for an answer the input is that
   * answer, and the result that of the submit which led to the question. Rejects with a `SessionStateError` while
   * another input is in work or after `close()`, and with a `TypeError` for an empty input.
   */
  async submit(input: Input, { outputSchema }: SubmitOptions = {}): Promise<SubmitResult> {
    this.#refuseWhenClosed();
    if (this.#state === 'PROCESSING') {
      throw new SessionStateError('submit: the session works on another input; use steer() or followUp()');
    }
    const checked = checkInput('submit', input);
    if (this.#question && this.#chain) {
      this.#question(checked);
      return await this.#chain;
    }
    this.#context.outputSchema = outputSchema;
    return await this.#start({ kind: 'input', input: checked });
  }

  /**
   * Goes on with calls that were parked, by call id; `PROCESSING_END` lists them. A call without a decision is asked
   * about again, and denied where there is no approval hook. Rejects with a `SessionStateError` where nothing is parked,
   * and with a `TypeError` for an id that is not.
   */
  async resume(decisions: Readonly<Record<string, FinalDecision>>): Promise<SubmitResult> {
    this.#refuseWhenClosed();
    const { parked, approve } = this.#context;
    if (!parked || this.#state === 'PROCESSING') throw new SessionStateError('resume: no call is parked');
    const unknown = Object.keys(decisions).find((callId) => !parked.waiting.includes(callId));
    if (unknown !== undefined)
      throw new TypeError(`resume: ${unknown} is not parked; parked are ${parked.waiting.join(', ')}`);
    const denied: FinalDecision = { decision: 'denied', reason: 'nobody decided' };
    const undecided = approve ? [] : parked.waiting.map((callId) => [callId, denied] as const);
    return await this.#start({
      kind: 'resume',
      decisions: new Map([...undecided, ...Object.entries(decisions)]),
    });
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

  /** Stops the present work, that of subagents too, and repairs the history; resolves when the session is idle again. */
  async interrupt(): Promise<void> {
    this.#interruption?.abort();
    await Promise.all([this.#running, this.#subagents.interruptAll()]);
    // What is parked when the session ends stays so in its snapshot.
    if (this.#state !== 'AWAITING_INPUT' || this.#closing.signal.aborted) return;
    abandonRound(this.#context, 'Not run: the user interrupted before a decision.');
    this.#state = 'IDLE';
  }

  /** Stops everything and ends the session. From any state, any number of times. */
  async close(): Promise<void> {
    await this.#shutDown('closed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** An iterator of its own for each consumer, from `SESSION_START` to `SESSION_END`. Events of subagents are among them. */
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
    this.#context.tools = this.#toolsOf(profile, this.#context.config.maxSubagentDepth);
  }

  /** From the next model call on; `undefined` leaves it to the provider. */
  setReasoningEffort(effort: string | undefined): void {
    this.#refuseWhenClosed();
    this.#context.config = { ...this.#context.config, reasoningEffort: effort };
  }

  /**
   * Puts other turns in the place of all, for example a summary and the last few. Reasoning behind the first change is
   * left out, because its signatures hold only where they were made. Throws a `SessionStateError` unless idle.
   */
  replaceHistory(turns: readonly Turn[]): void {
    this.#refuseWhenClosed();
    if (this.#state !== 'IDLE') throw new SessionStateError('replaceHistory: the session is not idle');
    this.#context.history.replace(turns);
    this.#context.prompt = undefined;
    this.#context.foreignTurns = 0;
  }

  /**
   * Looks at the project's instructions, git and the date again, and tells the model in a note what has changed; what it
   * was told before stays as it is, so that prompt caches hold. Whether there was anything to tell. Only while idle.
   */
  async refreshContext(): Promise<boolean> {
    this.#refuseWhenClosed();
    if (this.#state !== 'IDLE') throw new SessionStateError('refreshContext: the session is not idle');
    const note = await this.#preamble.changes(this.#preambleOptions(this.#closing.signal));
    if (note !== undefined) this.#context.history.appendSystem(note);
    return note !== undefined;
  }

  readonly #closeQuietly = () => void this.#shutDown('aborted').catch(() => {});

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted)
      throw new SessionStateError('the session is closed; make or restore another');
  }

  async #start(start: LoopStart): Promise<SubmitResult> {
    this.#state = 'PROCESSING';
    const chain = this.#runChain(start);
    this.#chain = chain;
    this.#running = chain.catch(() => {});
    const result = await chain;
    // Nothing will work any more with a key that was refused.
    if (result.error?.code === 'authentication') await this.#shutDown('error');
    return result;
  }

  async #runChain(start: LoopStart): Promise<SubmitResult> {
    const started = performance.now();
    const interruption = new AbortController();
    this.#interruption = interruption;
    const ends = { closing: this.#closing.signal, interruption };
    const outcome = await runChain(this.#context, start, this.#followUps, ends);
    this.#interruption = undefined;
    const end = this.#ended(outcome, Math.round(performance.now() - started));
    this.#state = this.#context.parked ? 'AWAITING_INPUT' : 'IDLE';
    this.#hub.emit('PROCESSING_END', end);
    await this.#persist();
    return { ...end, text: outcome.text, ...present({ output: outcome.output }) };
  }

  #ended({ reason, error }: LoopOutcome, durationMs: number): ProcessingEnd {
    const { meter, steering, parked } = this.#context;
    const { usage, costUsd, modelCalls, toolRounds } = meter.submit;
    const { running } = this.#subagents;
    return {
      reason,
      usage,
      ...present({ costUsd }),
      modelCalls,
      toolRounds,
      durationMs,
      queued: this.#followUps.length + steering.messages.length,
      ...(parked && { parked: parked.waiting }),
      ...(running.length > 0 && { runningSubagents: running }),
      ...present({ error }),
    };
  }

  #toolsOf(profile: ProviderProfile, maxDepth: number) {
    const own: SessionTool[] = [];
    if (this.#depth < maxDepth) {
      const models = this.#options.subagents?.resolveModel !== undefined;
      own.push(...createSubagentTools(profile.subagentTools ?? 'spec', this.#subagents, { models }));
    }
    const ask: AskUser = (question, signal) => this.#ask(question, signal);
    if (this.#options.askUser) own.push(createAskUserTool(profile.askUserTool ?? 'spec', ask));
    return sessionTools(profile, own);
  }

  async #ask(question: Question, signal: AbortSignal): Promise<Input> {
    const { promise, resolve, reject } = Promise.withResolvers<Input>();
    const interrupted = () => reject(new Error('The user did not answer.'));
    if (signal.aborted) interrupted();
    else signal.addEventListener('abort', interrupted, { once: true });
    this.#question = (answer) => {
      this.#question = undefined;
      this.#state = 'PROCESSING';
      this.#context.meter.work();
      resolve(answer);
    };
    this.#context.meter.rest();
    this.#state = 'AWAITING_INPUT';
    this.#hub.emit('INPUT_REQUESTED', question);
    try {
      return await promise;
    } finally {
      this.#question = undefined;
      signal.removeEventListener('abort', interrupted);
    }
  }

  async #makeChild(request: ChildRequest, kept?: SessionSnapshot): Promise<Child> {
    const { options, model } = await childOptions(request, this.#context, this.#options);
    const parent = { meter: this.#context.meter, depth: this.#depth + 1 };
    const session = kept
      ? new Session(withEffort(options, kept.reasoningEffort), { parent, snapshot: kept })
      : new Session(options, { parent });
    const workingDirectory = options.environment.workingDirectory();
    return { session, snapshot: () => session.#snapshotNow(), model, workingDirectory };
  }

  /** Synchronous: one moment of the whole family. */
  #snapshotNow(): SessionSnapshot {
    const { profile, config, steering, parked, meter, foreignTurns } = this.#context;
    const sent = this.#sentPreamble;
    const parkedArguments = parked && this.#parkedArguments.of(parked.waiting);
    const subagents = this.#subagents.snapshot();
    return {
      version: 1,
      id: this.id,
      turns: [...this.history],
      ...(sent?.profile === profile && { preamble: sent.preamble }),
      ...present({ reasoningEffort: config.reasoningEffort }),
      ...(steering.messages.length > 0 && { steering: [...steering.messages] }),
      ...(this.#followUps.length > 0 && { followUps: [...this.#followUps] }),
      ...present({ parked, parkedArguments }),
      ...(subagents.length > 0 && { subagents }),
      ...(foreignTurns > 0 && { foreignTurns }),
      spent: meter.spent,
    };
  }

  async #preambleFor(signal: AbortSignal): Promise<Preamble> {
    const { profile } = this.#context;
    const preamble = await this.#preamble.for(this.#preambleOptions(signal));
    if (!signal.aborted) this.#sentPreamble = { profile, preamble };
    return preamble;
  }

  #preambleOptions(signal: AbortSignal) {
    const { profile, environment, clock } = this.#context;
    return {
      profile,
      environment,
      userInstructions: this.#options.userInstructions,
      now: clock.now(),
      signal,
    };
  }

  async #persist(): Promise<void> {
    try {
      await this.#options.persist?.(this.#snapshotNow());
    } catch (error) {
      const message = `persist failed: ${error instanceof Error ? error.message : String(error)}`;
      this.#hub.emit('ERROR', { code: 'persist', message });
    }
  }

  /**
   * Refuse input → abort the model and the tools, and close the subagents beside → wait until the history is whole →
   * persist → SESSION_END → end the iterators → clean up → CLOSED.
   */
  #shutDown(reason: SessionEventData['SESSION_END']['reason']): Promise<void> {
    this.#closed ??= (async () => {
      // Its reason tells the model who ended its calls: a person, or a limit of time.
      this.#closing.abort(this.#options.signal?.reason);
      this.#options.signal?.removeEventListener('abort', this.#closeQuietly);
      const { history, environment, meter } = this.#context;
      // What a call has left running ends when no call can start more.
      const stopped = this.#running.then(() => endSessionProcesses(environment, this.id));
      await Promise.all([stopped, this.#subagents.endAll()]);
      endParkedCalls(this.#context);
      await this.#persist();
      this.#hub.emit('SESSION_END', { turns: history.assistantTurns, usage: meter.whole.usage, reason });
      this.#hub.close();
      try {
        if (this.#options.ownsEnvironment) await environment.cleanup?.();
      } finally {
        this.#state = 'CLOSED';
      }
    })();
    return this.#closed;
  }
}

/** A child that goes on has the effort it had, whatever its parent has now. */
function withEffort(options: SessionOptions, reasoningEffort: string | undefined): SessionOptions {
  return { ...options, config: { ...options.config, reasoningEffort } };
}
