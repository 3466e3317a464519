import { addUsage, emptyUsage } from '@whetstone/events';
import type { EventListener } from '../event-hub.ts';
import type { ProcessingEnd, SubagentReport, SubagentStatus } from '../session-event.ts';
import type { Input } from '../turn.ts';

/** What a subagent needs of its session. */
export type ChildSession = {
  readonly id: string;
  submit(input: Input): Promise<ProcessingEnd & { text: string }>;
  steer(message: Input): void;
  interrupt(): Promise<void>;
  close(): Promise<void>;
  on(listener: EventListener): () => void;
};

export function newAgentId(): string {
  return `agent_${crypto.randomUUID().slice(0, 8)}`;
}

export function isAgentId(value: unknown): boolean {
  return typeof value === 'string' && /^agent_[0-9a-f]{8}$/.test(value);
}

/** One child and what it has done so far. */
export class Subagent {
  readonly id: string;
  readonly session: ChildSession;
  readonly model: string;
  readonly workingDirectory: string;
  /** Inputs that it was given. */
  runs = 0;
  /** Settles with the present input, or has settled with the last one. Never rejects. */
  done: Promise<void> = Promise.resolve();
  #report: SubagentReport = {
    status: 'RUNNING',
    success: false,
    output: '',
    turnsUsed: 0,
    usage: emptyUsage(),
    costUsd: 0,
  };

  constructor(id: string, session: ChildSession, facts: { model: string; workingDirectory: string }) {
    this.id = id;
    this.session = session;
    this.model = facts.model;
    this.workingDirectory = facts.workingDirectory;
  }

  get status(): SubagentStatus {
    return this.#report.status;
  }

  get report(): SubagentReport {
    return this.#report;
  }

  /** Gives it an input; `onEnd` is called when it is done with it. */
  run(input: Input, onEnd: () => void): void {
    this.runs += 1;
    this.#report = { ...this.#report, status: 'RUNNING', success: false, output: '' };
    this.done = this.session
      .submit(input)
      .then(
        (result) => this.#finish(result),
        (error) => this.#set('FAILED', error instanceof Error ? error.message : String(error)),
      )
      .then(onEnd);
  }

  async close(): Promise<void> {
    await this.session.close();
    await this.done;
    this.#report = { ...this.#report, status: 'CLOSED' };
  }

  #finish({ reason, text, error, usage, costUsd, modelCalls }: ProcessingEnd & { text: string }): void {
    const before = this.#report;
    const cost = before.costUsd === undefined || costUsd === undefined ? undefined : before.costUsd + costUsd;
    const { costUsd: _, ...rest } = before;
    this.#report = {
      ...rest,
      turnsUsed: before.turnsUsed + modelCalls,
      usage: addUsage(before.usage, usage),
      ...(cost !== undefined && { costUsd: cost }),
    };
    if (reason === 'completed') this.#set('COMPLETED', text);
    else {
      const ended = `It ended early: ${reason}${error ? ` (${error.message})` : ''}.`;
      this.#set(
        reason === 'interrupted' || reason === 'aborted' ? 'ABORTED' : 'FAILED',
        text === '' ? ended : `${ended} Its last words:\n${text}`,
      );
    }
  }

  #set(status: SubagentStatus, output: string): void {
    this.#report = { ...this.#report, status, success: status === 'COMPLETED', output };
  }
}
