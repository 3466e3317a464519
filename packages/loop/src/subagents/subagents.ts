import type { LanguageModelV4 } from '@ai-sdk/provider';
import { onAbort } from '../control/race-abort.ts';
import type { SteeringQueue } from '../control/steering-queue.ts';
import type { ChildRequest, SessionSnapshot, SubagentSnapshot } from '../conversation/snapshot.ts';
import { inputText } from '../conversation/turn.ts';
import type { EventHub } from '../events/event-hub.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';
import { type Child, Subagent } from './subagent.ts';

/** What a host decides about subagents. `SessionConfig.maxSubagentDepth` decides whether there are any. */
export type SubagentOptions = {
  /** Model calls per subagent, unless the parent asks for another number. 0: no limit. Default 50. */
  maxTurns?: number;
  /** US dollars per subagent with its own subagents. 0: only the limits of its parent apply. Default 0. */
  costUsd?: number;
  /** Subagents of one session that may work at the same time. Default 8. */
  maxRunning?: number;
  /**
   * Finds the model that a parent asks for by name. Return a `profile`, too, where the model is another provider's.
   *
   * Contract: may be asynchronous. The parent reads the message of what it throws or rejects with. Default: a subagent
   * has its parent's model, and the parent cannot ask for another.
   */
  resolveModel?: (name: string) => ResolvedModel | Promise<ResolvedModel>;
};

export type ResolvedModel = { model: LanguageModelV4; profile?: ProviderProfile };

type Cause = { callId: string; signal: AbortSignal };

/** Why a wait ended. */
export type WaitEnd = 'finished' | 'timeout' | 'steered' | 'interrupted';

const MAX_RUNNING = 8;

type SubagentsOptions = {
  makeChild: (request: ChildRequest, kept?: SessionSnapshot) => Promise<Child>;
  hub: EventHub;
  steering: SteeringQueue;
  origin: { parentSessionId: string; depth: number };
  maxRunning?: number | undefined;
  kept?: readonly SubagentSnapshot[] | undefined;
};

/** The subagents of one session (loop spec 7). */
export class Subagents {
  readonly #agents = new Map<string, Subagent>();
  readonly #options: SubagentsOptions;
  readonly #maxRunning: number;
  #starting = 0;
  #closed = false;

  constructor(options: SubagentsOptions) {
    this.#options = options;
    this.#maxRunning = options.maxRunning ?? MAX_RUNNING;
    for (const kept of options.kept ?? []) this.#agents.set(kept.id, Subagent.restore(kept));
  }

  get running(): string[] {
    return this.#all()
      .filter((agent) => agent.status === 'RUNNING')
      .map((agent) => agent.id);
  }

  /** Throws where there is no subagent of that id. */
  get(id: string): Subagent {
    const agent = this.#agents.get(id);
    if (agent) return agent;
    const known = [...this.#agents.keys()].join(', ') || 'none';
    throw new Error(`There is no agent ${id}. Agents of this session: ${known}.`);
  }

  async spawn(task: string, request: ChildRequest, { callId, signal }: Cause): Promise<Subagent> {
    if (task.trim() === '') throw new Error('The task of the agent is empty. Say what it has to do.');
    if (this.running.length + this.#starting >= this.#maxRunning)
      throw new Error(`${this.#maxRunning} agents are working already. Wait for one, or close one.`);
    this.#starting += 1;
    try {
      const child = await this.#options.makeChild(request);
      if (this.#closed || signal.aborted) return await refuse(child);
      const agent = Subagent.start(request, child);
      this.#agents.set(agent.id, agent);
      this.#run(agent, task, callId);
      return agent;
    } finally {
      this.#starting -= 1;
    }
  }

  /** Sends a message. It is read before the next model call, at once with `interrupt`, or as a new input. */
  async send(
    id: string,
    message: string,
    { callId, signal, interrupt }: Cause & { interrupt: boolean },
  ): Promise<Subagent> {
    const agent = this.get(id);
    if (message.trim() === '') throw new Error(`The message to agent ${id} is empty. Say what it has to do.`);
    if (agent.status === 'CLOSED') throw new Error(`Agent ${id} is closed.`);
    if (agent.hasEnded)
      throw new Error(`Agent ${id} cannot continue. ${agent.report.output} Start another agent instead.`);
    if (agent.status === 'RUNNING' && !interrupt) {
      agent.session.steer(message);
      return agent;
    }
    if (agent.status === 'RUNNING') {
      await agent.interrupt();
      await agent.done;
    }
    if (agent.asleep) await this.#wake(agent, agent.asleep, signal);
    this.#run(agent, message, callId);
    return agent;
  }

  /** Waits until all of them are done, the time is over, or the parent is steered or interrupted. */
  async wait(ids: readonly string[], timeoutMs: number | undefined, signal: AbortSignal): Promise<WaitEnd> {
    const agents = ids.map((id) => this.get(id));
    const { steering } = this.#options;
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => resolve('timeout'), timeoutMs);
    const stopListening = steering.onArrival(() => resolve('steered'));
    if (steering.messages.length > 0) resolve('steered');
    using _abort = onAbort(signal, () => resolve('interrupted'));
    try {
      const finished = Promise.all(agents.map((agent) => agent.done)).then((): WaitEnd => 'finished');
      if (agents.every((agent) => agent.status !== 'RUNNING')) return 'finished';
      return await Promise.race([finished, promise]);
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  }

  /** Stops what the subagents do now. They can get new inputs afterwards. */
  async interruptAll(): Promise<void> {
    await Promise.all(this.#all().map((agent) => agent.interrupt()));
  }

  /** Ends the subagents together with the session. Their state stays available for a snapshot. */
  async endAll(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#all().map((agent) => agent.end()));
  }

  snapshot(): SubagentSnapshot[] {
    return this.#all().map((agent) => agent.snapshot());
  }

  #all(): Subagent[] {
    return [...this.#agents.values()];
  }

  async #wake(agent: Subagent, kept: SessionSnapshot, signal: AbortSignal): Promise<void> {
    const child = await this.#options.makeChild(agent.facts.request, kept);
    if (this.#closed || signal.aborted) return await refuse(child);
    agent.wake(child);
  }

  #run(agent: Subagent, task: string, callId: string): void {
    const { hub, origin } = this.#options;
    const identity = { agentId: agent.id, sessionId: agent.session.id, run: agent.facts.runs + 1 };
    const { model, workingDirectory } = agent.facts;
    hub.emit('SUBAGENT_START', { ...identity, callId, task: inputText(task), model, workingDirectory });
    const subagent = { agentId: agent.id, ...origin };
    // Events of a subagent's own subagents already carry where they come from.
    agent.listen((event) => hub.forward(event.subagent ? event : { ...event, subagent }));
    agent.run(task, () => hub.emit('SUBAGENT_END', { ...identity, ...agent.report }));
  }
}

async function refuse({ session }: Child): Promise<never> {
  await session.close();
  throw new Error('The session was interrupted before the agent started.');
}
