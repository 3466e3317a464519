import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { EventHub } from '../event-hub.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';
import type { SubagentReport } from '../session-event.ts';
import type { SteeringQueue } from '../steering-queue.ts';
import { inputText } from '../turn.ts';
import { type ChildSession, newAgentId, Subagent } from './subagent.ts';

/** What a host decides about subagents. Whether there are any is `SessionConfig.maxSubagentDepth`. */
export type SubagentOptions = {
  /** Model calls of a subagent in all its inputs, where the parent asks for no other number. Default 50; 0: no limit. */
  maxTurns?: number;
  /** US dollars that one subagent, with its own children, may spend. 0: no limit of its own. Default 0. */
  costUsd?: number;
  /** Subagents of one session that may work at the same time. Default 8. */
  maxRunning?: number;
  /**
   * Finds the model that a parent asks for by name; with another provider's model comes that provider's profile. What it
   * throws is what the parent reads. Without it a subagent has its parent's model, and none is offered.
   */
  resolveModel?: (name: string) => ResolvedModel | Promise<ResolvedModel>;
};

export type ResolvedModel = { model: LanguageModelV4; profile?: ProviderProfile };

/** A child to be made; the session knows how. */
export type ChildRequest = {
  workingDirectory: string | undefined;
  model: string | undefined;
  maxTurns: number | undefined;
};
export type MakeChild = (
  request: ChildRequest,
) => Promise<{ session: ChildSession; model: string; workingDirectory: string }>;

export type Spawn = ChildRequest & { task: string; callId: string; signal: AbortSignal };

/** Why a wait ended. */
export type WaitEnd = 'finished' | 'timeout' | 'steered' | 'interrupted';

const MAX_RUNNING = 8;

/** The children of one session (loop spec 7). */
export class Subagents {
  readonly #agents = new Map<string, Subagent>();
  readonly #makeChild: MakeChild;
  readonly #hub: EventHub;
  readonly #steering: SteeringQueue;
  readonly #origin: { parentSessionId: string; depth: number };
  readonly #maxRunning: number;
  #starting = 0;
  #closed = false;

  constructor(options: {
    makeChild: MakeChild;
    hub: EventHub;
    steering: SteeringQueue;
    /** Of the parent and its children. */
    origin: { parentSessionId: string; depth: number };
    maxRunning: number | undefined;
  }) {
    this.#makeChild = options.makeChild;
    this.#hub = options.hub;
    this.#steering = options.steering;
    this.#origin = options.origin;
    this.#maxRunning = options.maxRunning ?? MAX_RUNNING;
  }

  /** Ids of those that work at this moment. */
  get running(): string[] {
    return this.#all()
      .filter((agent) => agent.status === 'RUNNING')
      .map((agent) => agent.id);
  }

  /** Throws where there is none of that id. */
  get(id: string): Subagent {
    const agent = this.#agents.get(id);
    if (agent) return agent;
    const known = [...this.#agents.keys()].join(', ') || 'none';
    throw new Error(`There is no agent ${id}. Agents of this session: ${known}.`);
  }

  async spawn({ task, callId, signal, ...request }: Spawn): Promise<Subagent> {
    if (this.running.length + this.#starting >= this.#maxRunning)
      throw new Error(`${this.#maxRunning} agents work already; wait for one or close one.`);
    this.#starting += 1;
    try {
      const { session, ...facts } = await this.#makeChild(request);
      if (this.#closed || signal.aborted) {
        await session.close();
        throw new Error('The session was interrupted before the agent started.');
      }
      const agent = new Subagent(newAgentId(), session, facts);
      this.#agents.set(agent.id, agent);
      this.#run(agent, task, callId);
      return agent;
    } finally {
      this.#starting -= 1;
    }
  }

  /** To one that works: read before its next model call, or at once with `interrupt`. To one that is done: a new input. */
  async send(id: string, message: string, callId: string, interrupt: boolean): Promise<Subagent> {
    const agent = this.get(id);
    if (agent.status === 'CLOSED') throw new Error(`The agent ${id} is closed.`);
    if (agent.status === 'RUNNING' && !interrupt) {
      agent.session.steer(message);
      return agent;
    }
    if (agent.status === 'RUNNING') {
      await agent.session.interrupt();
      await agent.done;
    }
    this.#run(agent, message, callId);
    return agent;
  }

  /** Until all of them are done, the time is over, the parent is steered or interrupted. */
  async wait(ids: readonly string[], timeoutMs: number | undefined, signal: AbortSignal): Promise<WaitEnd> {
    const agents = ids.map((id) => this.get(id));
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => resolve('timeout'), timeoutMs);
    const stopListening = this.#steering.onArrival(() => resolve('steered'));
    const interrupted = () => resolve('interrupted');
    if (this.#steering.messages.length > 0) resolve('steered');
    if (signal.aborted) interrupted();
    else signal.addEventListener('abort', interrupted, { once: true });
    try {
      const finished = Promise.all(agents.map((agent) => agent.done)).then((): WaitEnd => 'finished');
      if (agents.every((agent) => agent.status !== 'RUNNING')) return 'finished';
      return await Promise.race([finished, promise]);
    } finally {
      clearTimeout(timer);
      stopListening();
      signal.removeEventListener('abort', interrupted);
    }
  }

  async close(id: string): Promise<SubagentReport> {
    const agent = this.get(id);
    await agent.close();
    return agent.report;
  }

  /** Stops what they do now; they can be given new inputs. */
  async interruptAll(): Promise<void> {
    await Promise.all(this.#all().map((agent) => agent.session.interrupt()));
  }

  async closeAll(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#all().map((agent) => agent.close()));
  }

  #all(): Subagent[] {
    return [...this.#agents.values()];
  }

  #run(agent: Subagent, task: string, callId: string): void {
    const run = agent.runs + 1;
    const identity = { agentId: agent.id, sessionId: agent.session.id, run };
    const { model, workingDirectory } = agent;
    this.#hub.emit('SUBAGENT_START', { ...identity, callId, task: inputText(task), model, workingDirectory });
    if (run === 1) this.#forwardEvents(agent);
    agent.run(task, () => this.#hub.emit('SUBAGENT_END', { ...identity, ...agent.report }));
  }

  /** A grandchild's events say already where they come from. */
  #forwardEvents(agent: Subagent): void {
    const subagent = { agentId: agent.id, ...this.#origin };
    agent.session.on((event) => this.#hub.forward(event.subagent ? event : { ...event, subagent }));
  }
}
