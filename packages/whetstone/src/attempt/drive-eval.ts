import { appendFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type AgentSession,
  type AskHuman,
  openSession,
  type PolicyRequest,
  type Turn,
  type TurnInput,
} from '@whetstone/agents';
import { createTurnStamp } from '@whetstone/agents/evaluator';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { AssertionRecord } from '../eval/assertions/assertion.ts';
import { type EvalAttempt, EvalCodeError } from '../eval/eval-workers.ts';
import { modelOf } from '../eval/judge/judge-of-agent.ts';
import type { SentTurn, StoredTurn, Tested } from '../eval/protocol.ts';
import type { Verification } from '../verify/verify.ts';
import type { Changes, Workspace } from '../workspace/workspace.ts';
import { layWork } from './ask-judge-agent.ts';
import { openCaseJudge } from './case-judge.ts';
import { checkAnswer } from './check-answer.ts';
import { actionText, sessionOptions, type TurnResources } from './drive.ts';
import { readContent, toSentChanges } from './eval-changes.ts';
import { evalChecks } from './eval-checks.ts';
import { type EventLog, openEventLog } from './event-log.ts';
import { joinTurns } from './join-turns.ts';
import { joinVerdicts, placedBelow } from './join-verdicts.ts';
import type { Attempt, Lab, Trace } from './lab.ts';
import { maskValues } from './mask-values.ts';

/** An attempt at an eval whose test function has ended, and whose assertions wait for the clean room. */
export type DrivenEval = AsyncDisposable & {
  /** All turns of all sessions as one. A turn that waits for an answer has done what it should. */
  turn: Turn;
  /** Judges the assertions, keeps them, and joins them with what the clean room found. */
  judge(verification: Verification): Promise<Verification>;
};

/** The longest timer that Node has. */
const LONGEST_MS = 2 ** 31 - 1;

/** Calls the code of an eval, and drives the agent as it asks. */
export async function driveEval(
  attempt: Attempt,
  lab: Lab,
  resources: TurnResources & { workspace?: Workspace },
  trace: Trace,
): Promise<DrivenEval> {
  const { task, agentConfig, agent, variant, planned } = attempt;
  const evalTask = task.eval;
  if (!evalTask || !lab.evals) throw new TypeError(`Task ${task.id} is not an eval.`);
  const { files, workspace } = resources;
  const log = openEventLog(files.events, lab.mask);
  const limitMs = Math.min(Math.ceil((task.timeoutSeconds ?? agentConfig.timeoutSeconds) * 1000), LONGEST_MS);
  const limit = AbortSignal.timeout(limitMs);
  const signal = AbortSignal.any([attempt.signal, limit]);
  const sessions = new Sessions(attempt, resources, trace, { log, limitMs });
  // Looked for once per turn: several assertions ask at the same time.
  let latest: { turns: number; changes: Promise<Changes> } | undefined;
  const changes = async (): Promise<Changes | undefined> => {
    if (trace.changes) return trace.changes;
    if (!workspace) return undefined;
    if (latest?.turns !== trace.turns.length) {
      latest = { turns: trace.turns.length, changes: workspace.changes() };
    }
    return latest.changes;
  };
  const { mask, workplace } = lab;
  const models = () => modelsOf(agentConfig, trace.calls);
  const judge = openCaseJudge(
    {
      ...{ planned, models, mask, signal: attempt.signal, ledgerFile: files.judgeCalls },
      ...(workplace && {
        room: {
          ...{ sandboxes: workplace.sandboxes, scratch: lab.scratch },
          ...(workspace && {
            layWork: async (folder) => layWork(workspace, await changes(), workplace.workspaces, folder),
          }),
        },
      }),
      onAnswer: (kept) => appendFileSync(files.judgements, `${JSON.stringify(kept)}\n`, { mode: 0o600 }),
    },
    lab.judge,
  );
  const checks: Promise<unknown>[] = [];
  const place = workplace && workspace && { workplace, workspace, files, changes };
  const check = place && evalChecks(attempt, lab, trace, place);
  const given = {
    capabilities: agent.capabilities ?? {},
    flags: variant.flags ?? {},
    ...present({ model: modelOf(attempt.agentConfig) }),
  };
  // For `rescore`, which only has texts that are masked already.
  const kept = {
    ...{ ...maskValues(given, mask), secretsKnown: !mask.isEmpty },
    // The result of other tests must not stand for theirs.
    ...present({ hiddenTests: task.hiddenTests && basename(task.hiddenTests) }),
  };
  writeFileSync(files.evalInput, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  const code = lab.evals.open(
    { file: evalTask.file, key: evalTask.key, id: task.id, agentName: planned.agent, ...given },
    {
      calls: {
        async send(session, input, asks) {
          // A clean room reads the files of the workspace, so the agent waits for it.
          await Promise.allSettled(checks);
          const ask = asks ? (request: PolicyRequest) => code.ask(session, request) : undefined;
          return sessions.send(session, input, ask);
        },
        changes: async () => {
          const found = await changes();
          return found && toSentChanges(found);
        },
        async check(what) {
          if (!check) return { status: 'broken', message: 'the agent has no workspace' };
          const checking = check(what);
          checks.push(checking);
          return checking;
        },
        judge: judge.judge,
        user: judge.user,
        judgeLane: judge.judgeLane,
        masked: async (texts) => (mask.isEmpty ? undefined : texts.map(mask.text)),
        content: async (path, side) => {
          const found = await changes();
          return found && readContent(found, path, side);
        },
      },
      onLog: (text) => appendFileSync(files.evalLog, lab.mask.text(text)),
      signal,
    },
  );
  const close = async (): Promise<void> => {
    code[Symbol.dispose]();
    await judge[Symbol.asyncDispose]();
    trace.judgeCalls = judge.calls;
  };
  try {
    const tested = await code.run();
    if (sessions.failure) throw sessions.failure.error;
    attempt.signal.throwIfAborted();
    const whole = joinTurns(trace.turns) ?? { events: [], status: 'completed' };
    return {
      turn: whole.status === 'waiting' ? { ...whole, status: 'completed' } : whole,
      judge: (verification) =>
        settle(code, tested, verification, { attempt, lab, trace, file: files.assertions }),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  } finally {
    writeFileSync(files.turns, `${JSON.stringify(maskValues(sessions.stored, lab.mask))}\n`, { mode: 0o600 });
    await sessions.close();
    log[Symbol.dispose]();
  }
}

/** The model that the configuration states, and those that were asked and that answered. */
const modelsOf = (agentConfig: Attempt['agentConfig'], calls: Trace['calls']): string[] => {
  const named = calls.flatMap(({ model_asked, model_answered }) => [model_asked, model_answered]);
  return [modelOf(agentConfig), ...named].filter((name) => name != null);
};

/** The sessions that an eval began, by number. They share the sandbox and the record. */
class Sessions {
  /** Why the agent could not be driven. The eval's code cannot catch that: nothing was measured. */
  failure: { error: unknown } | undefined;
  /** For `rescore`, which plays the turns again without the agent. */
  readonly stored: StoredTurn[] = [];
  readonly #open = new Map<number, AgentSession>();
  readonly #stamp = createTurnStamp();
  readonly #startedAt = performance.now();
  readonly #attempt: Attempt;
  readonly #resources: TurnResources;
  readonly #trace: Trace;
  readonly #log: EventLog;
  readonly #limitMs: number;
  #events = 0;

  constructor(
    attempt: Attempt,
    resources: TurnResources,
    trace: Trace,
    { log, limitMs }: { log: EventLog; limitMs: number },
  ) {
    this.#attempt = attempt;
    this.#resources = resources;
    this.#trace = trace;
    this.#log = log;
    this.#limitMs = limitMs;
  }

  /** `ask`: answers what the agent asks; it is that of the first message for the whole session. */
  async send(number: number, input: TurnInput, ask?: AskHuman): Promise<SentTurn> {
    if (this.failure) throw this.failure.error;
    try {
      return await this.#send(number, input, ask);
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  async #send(number: number, input: TurnInput, ask: AskHuman | undefined): Promise<SentTurn> {
    const trace = this.#trace;
    const session = await this.#session(number, ask);
    const index = trace.turnsSent;
    trace.turnsSent += 1;
    this.#keepPrompt(number, index, input.text);
    const firstIndex = this.#events;
    const events: StreamEvent[] = [];
    const add = (event: StreamEvent): void => {
      // Turns are counted over all sessions, and no two calls of an attempt have one id.
      const stamped = this.#stamp(event, index);
      events.push(stamped);
      this.#log.append(stamped);
      if (event.type === 'action.called')
        this.#attempt.onProgress?.({ phase: 'agent', action: actionText(event) });
    };
    const reply = await session.send(input, {
      onEvent: add,
      // Among the events of the turn, so that evidence counts the lines of `events.jsonl`.
      onLog: (message) => add({ type: 'raw', source: 'host', native: { log: message } }),
      timeoutMs: Math.max(1, Math.ceil(this.#limitMs - (performance.now() - this.#startedAt))),
    });
    const checked = input.outputSchema ? await checkAnswer(reply, input.outputSchema, add) : reply;
    const turn = { ...checked, events };
    trace.turns.push(turn);
    this.#events += events.length;
    const { status, data, usage, costUsd } = turn;
    const sent = { status, firstIndex, ...present({ data, usage, costUsd }) };
    this.stored.push({ ...sent, session: number, text: input.text, eventCount: events.length });
    return { ...sent, events };
  }

  async #session(number: number, ask: AskHuman | undefined): Promise<AgentSession> {
    const open = this.#open.get(number);
    if (open) return open;
    const { agent, variant } = this.#attempt;
    const session = await openSession(agent, {
      ...sessionOptions(this.#attempt, this.#resources),
      ...present({ ask, flags: variant.flags, model: modelOf(this.#attempt.agentConfig) }),
    });
    this.#open.set(number, session);
    return session;
  }

  #keepPrompt(session: number, turn: number, text: string): void {
    const { prompt } = this.#resources.files;
    if (turn === 0) {
      writeFileSync(prompt, text);
      return;
    }
    const where = session === 0 ? '' : `, session ${session + 1}`;
    appendFileSync(prompt, `\n\n--- turn ${turn + 1}${where} ---\n\n${text}`);
  }

  async close(): Promise<void> {
    for (const session of this.#open.values()) await session[Symbol.asyncDispose]();
  }
}

async function settle(
  code: EvalAttempt,
  tested: Tested,
  verification: Verification,
  kept: { attempt: Attempt; lab: Lab; trace: Trace; file: string },
): Promise<Verification> {
  const { attempt, lab, trace, file } = kept;
  let { failure } = tested;
  let assertions: AssertionRecord[] = [];
  try {
    ({ assertions } = await code.settle());
  } catch (error) {
    if (!(error instanceof EvalCodeError)) throw error;
    failure ??= { message: error.message };
  }
  const root = attempt.task.eval?.root ?? '';
  trace.assertions = maskValues(
    assertions.map((one) => placedBelow(one, root)),
    lab.mask,
  );
  writeFileSync(file, `${JSON.stringify(trace.assertions, null, 2)}\n`, { mode: 0o600 });
  return joinVerdicts(verification, trace.assertions, {
    ...tested,
    ...(failure && { failure: placedBelow(failure, root) }),
  });
}
