import type { LanguageModelV4 } from '@ai-sdk/provider';
import { present } from '@whetstone/events/present';
import { checkedDecisions, type FinalDecision } from '../control/approval.ts';
import { SteeringQueue } from '../control/steering-queue.ts';
import { checkInput } from '../conversation/check-input.ts';
import { checkTurns } from '../conversation/check-turn.ts';
import {
  type ChildRequest,
  checkSnapshot,
  type SessionSnapshot,
  snapshotAt,
} from '../conversation/snapshot.ts';
import type { HistoryTurn, Input } from '../conversation/turn.ts';
import { EventHub, type EventListener } from '../events/event-hub.ts';
import type { SessionEvent, SessionEventData } from '../events/session-event.ts';
import type { LoopContext, LoopStart } from '../loop/loop-context.ts';
import { faultOfOutputSchema, type OutputSchema } from '../loop/structured-output.ts';
import { abandonRound, endParkedCalls } from '../loop/tool-round.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';
import type { Child } from '../subagents/subagent.ts';
import { createSubagentTools } from '../subagents/subagent-tools.ts';
import { Subagents } from '../subagents/subagents.ts';
import { type AskUser, createAskUserTool, type Question } from '../tools/ask-user-tool.ts';
import { endSessionProcesses } from '../tools/process-sessions.ts';
import { type SessionTools, sessionTools } from '../tools/session-tools.ts';
import { checkedOptions, checkedSubmitOptions, refuseOtherSchema } from './check-session-options.ts';
import { childOptions } from './child-options.ts';
import { createContext, sessionStart } from './create-context.ts';
import { FrozenPreamble } from './frozen-preamble.ts';
import { ParkedArguments } from './parked-arguments.ts';
import { PendingQuestion } from './pending-question.ts';
import { Persister } from './persister.ts';
import {
  type SessionOptions,
  type SessionOrigin,
  type SessionState,
  SessionStateError,
  type SubmitOptions,
  type SubmitResult,
} from './session-options.ts';
import { processingEnd, runChain } from './submit-chain.ts';
import { takeSnapshot } from './take-snapshot.ts';

/**
 * A conversation with a coding agent: history, events and control (loop spec 2.1). The loop itself is `runLoop`.
 *
 * `new Session(options)` starts nothing: before the first `submit()` no file is read and no model is called. End a
 * session with `close()` or `await using`.
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
  readonly #persister: Persister;
  readonly #question = new PendingQuestion();
  #state: SessionState = 'IDLE';
  #interruption: AbortController | undefined;
  #chain: Promise<SubmitResult> | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(given: SessionOptions, origin: SessionOrigin = {}) {
    const options = checkedOptions(given);
    const { profile, environment, clock, hooks } = options;
    const { snapshot, parent } = origin;
    this.#options = options;
    this.#depth = parent?.depth ?? 0;
    this.id = snapshot?.id ?? crypto.randomUUID();
    this.#followUps = [...(snapshot?.followUps ?? [])];
    this.#hub = new EventHub(this.id, clock.now);
    this.#persister = new Persister(options, this.#hub.emit);
    this.#preamble = new FrozenPreamble(
      () => ({
        profile: this.#context.profile,
        environment,
        userInstructions: options.userInstructions,
        now: clock.now(),
      }),
      snapshot?.preamble && { profile, preamble: snapshot.preamble },
    );
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
    this.#context = createContext(options, origin, {
      sessionId: this.id,
      emit: this.#hub.emit,
      ...this.#parkedArguments.around({ hooks, approve: options.approve }),
      steering,
      preamble: (signal) => this.#preamble.get(signal),
      tools: (maxSubagentDepth) => this.#toolsOf(profile, maxSubagentDepth),
    });
    if (this.#context.parked) this.#state = 'AWAITING_INPUT';
    this.#hub.emit('SESSION_START', sessionStart(options, origin));
    if (options.signal?.aborted) this.#closeQuietly();
    else options.signal?.addEventListener('abort', this.#closeQuietly, { once: true });
  }

  /** A session that continues from a snapshot. Throws a `TypeError` where this version cannot read the snapshot. */
  static restore(snapshot: unknown, options: SessionOptions): Session {
    return new Session(options, { snapshot: checkSnapshot(snapshot) });
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The turns so far, in order. This is the live list, which grows; do not change it. */
  get history(): readonly HistoryTurn[] {
    return this.#context.history.turns;
  }

  /** The session and its subagents as JSON. Calls and subagents that run now are interrupted in a restored session. */
  async snapshot(): Promise<SessionSnapshot> {
    return this.#snapshotNow();
  }

  /**
   * Another session on the same environment that continues from an earlier point of this one. Its budget counts from 0.
   * It has none of the subagents: their state at an earlier turn is not kept. Rejects with a `RangeError` for an
   * unknown turn.
   *
   * @param atTurn The id of the last turn to keep, or the number of turns to keep. Default: all of them.
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
   * Works on an input, and then on the queued follow-ups, until the model is done, a limit is reached or the session is
   * interrupted.
   *
   * While the model waits for the user (`AWAITING_INPUT`), the input is the answer to its question. The call then
   * resolves with the result of the `submit()` that led to the question.
   *
   * Contract: whatever goes wrong with the model is in the result (`reason`, `error`). Rejects only with a
   * `SessionStateError`, while the session works on another input or is closed, or for another schema with an answer,
   * with a `TypeError` for an empty or malformed input, and with a `WhetstoneError` for an option that does not fit.
   */
  async submit(input: Input, options: SubmitOptions = {}): Promise<SubmitResult> {
    this.#refuseWhenClosed();
    if (this.#state === 'PROCESSING') {
      throw new SessionStateError('submit: the session is busy. Use steer() or followUp().');
    }
    const checked = checkInput('submit', input);
    const { outputSchema } = checkedSubmitOptions(options);
    if (this.#question.isOpen && this.#chain) {
      refuseOtherSchema(outputSchema, this.#context.outputSchema);
      this.#state = 'PROCESSING';
      this.#context.meter.work();
      this.#question.answer(checked);
      return await this.#chain;
    }
    return await this.#start({ kind: 'input', input: checked }, outputSchema);
  }

  /**
   * Continues with the calls that an approval hook has parked; `PROCESSING_END` lists them. Rejects with a
   * `SessionStateError` where no call is parked, and with a `TypeError` for the id of another call and for what is no decision.
   *
   * @param decisions By call id. A parked call without a decision goes to the approval hook again; where there is no
   * hook, the call is denied.
   */
  async resume(decisions: Readonly<Record<string, FinalDecision>>): Promise<SubmitResult> {
    this.#refuseWhenClosed();
    const { parked } = this.#context;
    if (!parked || this.#state === 'PROCESSING') throw new SessionStateError('resume: no call is parked');
    const checked = checkedDecisions(decisions, parked.waiting);
    return await this.#start({ kind: 'resume', decisions: checked }, this.#context.outputSchema);
  }

  /** Queues a message for the model. It is read before the next model call, with the next `submit()` at the latest. */
  steer(message: Input): void {
    this.#refuseWhenClosed();
    this.#context.steering.push(checkInput('steer', message));
  }

  /** Queues another input for the present `submit()`, or else the next one, to work on after its own. */
  followUp(message: Input): void {
    this.#refuseWhenClosed();
    this.#followUps.push(checkInput('followUp', message));
  }

  /** Stops the present work, also of subagents. Resolves when the session is idle and every tool call has an answer. */
  async interrupt(): Promise<void> {
    this.#interruption?.abort();
    // `persist` runs when the work is done, and is itself the last step of `#running`.
    const work = this.#persister.isCaller ? undefined : this.#running;
    await Promise.all([work, this.#subagents.interruptAll()]);
    // Calls that are parked when the session ends stay parked in its snapshot.
    if (this.#state !== 'AWAITING_INPUT' || this.#closing.signal.aborted) return;
    abandonRound(this.#context, 'Not run: the user interrupted before a decision.');
    this.#state = 'IDLE';
  }

  /** Stops everything and ends the session, in any state and any number of times. In `persist` it resolves at once. */
  async close(): Promise<void> {
    const closed = this.#shutDown('closed');
    if (this.#persister.isCaller) closed.catch(() => {});
    else await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * The events from `SESSION_START` to `SESSION_END`, also those of subagents. Each call returns an iterator of its
   * own. An iterator that leaves more than 10,000 events, deltas aside, unread gives those events and then fails
   * with an `EventQueueOverflowError`.
   */
  events(): AsyncIterableIterator<SessionEvent, undefined> {
    return this.#hub.events();
  }

  /**
   * Calls `listener` for every event, synchronously, so it must be quick. A listener that throws is removed and
   * reported as a `WARNING`. Returns a function that removes the listener.
   */
  on(listener: EventListener): () => void {
    return this.#hub.on(listener);
  }

  /** Sets the model from the next call on. Its requests leave out the reasoning and signatures of another provider. */
  setModel(model: LanguageModelV4): void {
    this.#refuseWhenClosed();
    this.#context.model = model;
  }

  /** Sets the profile, with its tools and its system prompt, from the next model call on. */
  setProfile(profile: ProviderProfile): void {
    this.#refuseWhenClosed();
    this.#context.profile = profile;
    this.#context.tools = this.#toolsOf(profile, this.#context.config.maxSubagentDepth);
  }

  /** Sets the effort from the next model call on; `undefined` leaves it to the provider. */
  setReasoningEffort(effort: string | undefined): void {
    this.#refuseWhenClosed();
    this.#context.config = { ...this.#context.config, reasoningEffort: effort };
  }

  /**
   * Replaces the whole history, for example by a summary. From the first turn that differs on, reasoning goes: providers
   * refuse its signatures elsewhere. Throws a `SessionStateError` unless idle, a `TypeError` for turns that none takes.
   */
  replaceHistory(turns: readonly HistoryTurn[]): void {
    this.#refuseWhenClosed();
    if (this.#state !== 'IDLE') throw new SessionStateError('replaceHistory: the session is not idle');
    this.#context.history.replace(checkTurns('replaceHistory', turns));
    this.#context.prompt = undefined;
    this.#context.foreignTurns = 0;
  }

  /**
   * Reads the project's instructions, the state of git and the date again, and appends a note for the model about what
   * has changed. Earlier requests stay as they were, so that prompt caches hold. Resolves with whether anything has
   * changed. Rejects with a `SessionStateError` unless the session is idle.
   */
  async refreshContext(): Promise<boolean> {
    this.#refuseWhenClosed();
    if (this.#state !== 'IDLE') throw new SessionStateError('refreshContext: the session is not idle');
    const note = await this.#preamble.changes(this.#closing.signal);
    if (note !== undefined) this.#context.history.appendSystem(note);
    return note !== undefined;
  }

  readonly #closeQuietly = () => void this.#shutDown('aborted').catch(() => {});

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted)
      throw new SessionStateError('The session is closed. Create or restore another session.');
  }

  async #start(start: LoopStart, outputSchema: OutputSchema | undefined): Promise<SubmitResult> {
    this.#state = 'PROCESSING';
    const chain = this.#runChain(start, outputSchema);
    this.#chain = chain;
    this.#running = chain.catch(() => {});
    const result = await chain;
    // No later call can work with a key that was refused.
    if (result.error?.code === 'model-authentication-failed') await this.#shutDown('error');
    return result;
  }

  async #runChain(start: LoopStart, outputSchema: OutputSchema | undefined): Promise<SubmitResult> {
    const started = performance.now();
    const interruption = new AbortController();
    this.#interruption = interruption;
    const fault = outputSchema && (await faultOfOutputSchema(outputSchema));
    if (fault) this.#rest();
    if (fault) throw fault;
    this.#context.outputSchema = outputSchema;
    const ends = { closing: this.#closing.signal, interruption };
    const outcome = await runChain(this.#context, start, this.#followUps, ends);
    const end = processingEnd(this.#context, outcome, {
      durationMs: Math.round(performance.now() - started),
      followUps: this.#followUps.length,
      runningSubagents: this.#subagents.running,
    });
    this.#rest();
    this.#hub.emit('PROCESSING_END', end);
    await this.#persister.persist(() => this.#snapshotNow());
    return { ...end, text: outcome.text, ...present({ output: outcome.output }) };
  }

  #rest(): void {
    this.#interruption = undefined;
    this.#state = this.#context.parked ? 'AWAITING_INPUT' : 'IDLE';
  }

  /** The profile's tools and the session's own: for subagents, where there may be any, and for questions to the user. */
  #toolsOf(profile: ProviderProfile, maxSubagentDepth: number): SessionTools {
    const { subagents, askUser } = this.#options;
    const models = subagents?.resolveModel !== undefined;
    const ask: AskUser = (question, signal) => this.#ask(question, signal);
    return sessionTools(profile, [
      ...(this.#depth < maxSubagentDepth
        ? createSubagentTools(profile.subagentTools ?? 'spec', this.#subagents, { models })
        : []),
      ...(askUser ? [createAskUserTool(profile.askUserTool ?? 'spec', ask)] : []),
    ]);
  }

  async #ask(question: Question, signal: AbortSignal): Promise<Input> {
    // Opened before it is announced, because a listener may answer at once.
    const answer = this.#question.wait(signal);
    this.#context.meter.rest();
    this.#state = 'AWAITING_INPUT';
    this.#hub.emit('INPUT_REQUESTED', question);
    return await answer;
  }

  async #makeChild(request: ChildRequest, kept?: SessionSnapshot): Promise<Child> {
    const { options, model } = await childOptions(request, this.#context, this.#options, kept);
    const parent = { meter: this.#context.meter, depth: this.#depth + 1 };
    const session = new Session(options, { parent, ...present({ snapshot: kept }) });
    const workingDirectory = options.environment.workingDirectory();
    return { session, snapshot: () => session.#snapshotNow(), model, workingDirectory };
  }

  #snapshotNow(): SessionSnapshot {
    const { profile, parked } = this.#context;
    return takeSnapshot(this.#context, {
      preamble: this.#preamble.sentFor(profile),
      followUps: this.#followUps,
      parkedArguments: parked && this.#parkedArguments.of(parked.waiting),
      subagents: this.#subagents.snapshot(),
    });
  }

  /** Refuse input → end model, tools and subagents → history whole → persist → SESSION_END → iterators end → clean up. */
  #shutDown(reason: SessionEventData['SESSION_END']['reason']): Promise<void> {
    this.#closed ??= (async () => {
      // The model reads from the reason who ended its calls: a person, or a time limit.
      this.#closing.abort(this.#options.signal?.reason);
      this.#options.signal?.removeEventListener('abort', this.#closeQuietly);
      const { history, environment, meter } = this.#context;
      // Commands that calls have left running end once no call can start another.
      const stopped = this.#running.then(() => endSessionProcesses({ environment, sessionId: this.id }));
      await Promise.all([stopped, this.#subagents.endAll()]);
      endParkedCalls(this.#context);
      await this.#persister.persist(() => this.#snapshotNow());
      this.#hub.emit('SESSION_END', {
        state: 'CLOSED',
        turns: history.assistantTurns,
        usage: meter.whole.usage,
        reason,
      });
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
