import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { addUsage, emptyUsage } from '@whetstone/events/usage';
import { plus } from '../control/budget.ts';
import type {
  ChildRequest,
  SessionSnapshot,
  SubagentReport,
  SubagentSnapshot,
  SubagentStatus,
} from '../conversation/snapshot.ts';
import type { Input } from '../conversation/turn.ts';
import type { EventListener } from '../events/event-hub.ts';
import type { ProcessingEnd } from '../events/session-event.ts';

type ChildSession = {
  readonly id: string;
  readonly state: string;
  submit(input: Input): Promise<ProcessingEnd & { text: string }>;
  steer(message: Input): void;
  interrupt(): Promise<void>;
  close(): Promise<void>;
  on(listener: EventListener): () => void;
};

export type Child = {
  session: ChildSession;
  /** Synchronous, so that a session and all its subagents are caught at one moment. */
  snapshot: () => SessionSnapshot;
  model: string;
  workingDirectory: string;
};

export function isAgentId(value: unknown): boolean {
  return typeof value === 'string' && /^agent_[0-9a-f]{8}$/.test(value);
}

type Facts = Omit<SubagentSnapshot, 'session'>;

/** One subagent and what it has done so far. */
export class Subagent {
  readonly #facts: Facts;
  /** Resolves when the subagent has no input in work. Never rejects. */
  done: Promise<void> = Promise.resolve();
  /** Its session. Absent between a restore and the first input after it, and after `close()`. */
  #child: Child | undefined;
  /** The snapshot that its session will be made from. Absent once there is a session, and after `close()`. */
  #kept: SessionSnapshot | undefined;
  #stopListening: (() => void) | undefined;

  private constructor({ session, ...facts }: SubagentSnapshot, child?: Child) {
    this.#facts = facts;
    this.#kept = session;
    this.#child = child;
  }

  static start(request: ChildRequest, child: Child): Subagent {
    const { model, workingDirectory } = child;
    const nothing = { output: '', turnsUsed: 0, usage: emptyUsage(), costUsd: 0 };
    const report: SubagentReport = { status: 'RUNNING', success: false, ...nothing };
    const id = `agent_${crypto.randomUUID().slice(0, 8)}`;
    return new Subagent({ id, request, model, workingDirectory, runs: 0, report }, child);
  }

  /** A subagent of a snapshot. An input that was in work then has ended early. */
  static restore(snapshot: SubagentSnapshot): Subagent {
    const { session, report } = snapshot;
    if (report.status !== 'RUNNING' || !session) return new Subagent(snapshot);
    return new Subagent({ ...snapshot, report: interruptedReport(report, session) });
  }

  get id(): string {
    return this.#facts.id;
  }

  get facts(): Readonly<Facts> {
    return this.#facts;
  }

  get status(): SubagentStatus {
    return this.report.status;
  }

  get report(): SubagentReport {
    return this.#facts.report;
  }

  /** The snapshot from which its session has to be made before it can work again, if so. */
  get asleep(): SessionSnapshot | undefined {
    return this.#kept;
  }

  /** Throws where there is no session, because the subagent is asleep or closed. */
  get session(): ChildSession {
    if (!this.#child) throw new Error(`Agent ${this.id} has no session.`);
    return this.#child.session;
  }

  /** Whether its session is closed for a reason of its own, such as a key that the provider refuses. */
  get hasEnded(): boolean {
    return this.#child?.session.state === 'CLOSED';
  }

  wake(child: Child): void {
    this.#child = child;
    this.#kept = undefined;
    const { model, workingDirectory } = child;
    Object.assign(this.#facts, { model, workingDirectory });
  }

  /** Calls `listener` for all events of the session. Only the first call for a session has an effect. */
  listen(listener: EventListener): void {
    this.#stopListening ??= this.session.on(listener);
  }

  /** Starts to work on an input. `onEnd` is called when that has ended. */
  run(input: Input, onEnd: () => void): void {
    this.#facts.runs += 1;
    this.#set('RUNNING', '');
    this.done = this.session
      .submit(input)
      .then(
        (result) => this.#finish(result),
        (error) => this.#set('FAILED', messageOf(error)),
      )
      .then(onEnd);
  }

  async interrupt(): Promise<void> {
    await this.#child?.session.interrupt();
  }

  /** Ends its session together with the session above. A session that is restored from a snapshot can use it again. */
  async end(): Promise<void> {
    await this.#child?.session.close();
    await this.done;
  }

  async close(): Promise<void> {
    await this.end();
    this.#child = undefined;
    this.#kept = undefined;
    this.#facts.report = { ...this.report, status: 'CLOSED' };
  }

  snapshot(): SubagentSnapshot {
    return { ...this.#facts, ...present({ session: this.#child?.snapshot() ?? this.#kept }) };
  }

  #finish({ reason, text, error, usage, costUsd, modelCalls }: ProcessingEnd & { text: string }): void {
    const { costUsd: costBefore, ...before } = this.report;
    this.#facts.report = {
      ...before,
      turnsUsed: before.turnsUsed + modelCalls,
      usage: addUsage(before.usage, usage),
      ...present({ costUsd: plus(costBefore, costUsd) }),
    };
    if (reason === 'completed') {
      this.#set('COMPLETED', text);
      return;
    }
    const ended = `It ended early: ${reason}${error ? ` (${error.message})` : ''}.`;
    const status = reason === 'interrupted' || reason === 'aborted' ? 'ABORTED' : 'FAILED';
    this.#set(status, text === '' ? ended : `${ended} Its last words:\n${text}`);
  }

  #set(status: SubagentStatus, output: string): void {
    this.#facts.report = { ...this.report, status, success: status === 'COMPLETED', output };
  }
}

/** The report of an input that the snapshot has cut off. Only the session's own counters include that input. */
function interruptedReport(
  { costUsd: _, ...report }: SubagentReport,
  { spent }: SessionSnapshot,
): SubagentReport {
  return {
    ...report,
    status: 'ABORTED',
    success: false,
    output: 'It ended early: the session was restored from a snapshot that was taken while it worked.',
    ...(spent && { turnsUsed: spent.modelCalls, usage: spent.usage, ...present({ costUsd: spent.costUsd }) }),
  };
}
