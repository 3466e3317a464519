import { mkdirSync, writeFileSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import type { AgentFacts, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Sandbox } from '@whetstone/sandbox';
import type { Agent, AgentContext, AttemptFiles, Turn, TurnInput } from '../agent.ts';
import { readPrompt } from '../kit/input-items.ts';
import { hostedAgent, placesAbove } from '../module/hosted-agent.ts';
import { type DrivenTurn, startTurn } from './driven-turn.ts';
import { enforcedOn } from './enforced-on.ts';
import { listFiles, newFilesIn } from './new-files.ts';
import { refuseAbove } from './read-above.ts';
import { contextIn, openPlace, type SessionOptions, type SessionPlace } from './session-place.ts';
import { withoutSideEffects } from './side-effects.ts';
import { createTurnStamp } from './turn-stamp.ts';

export type TurnOptions = Pick<SessionOptions, 'signal' | 'timeoutMs'> & {
  /** Called with each event as it happens, before it can be iterated. Must not throw. */
  onEvent?: (event: StreamEvent) => void;
  /** Called with diagnostics of the agent's adapter. Default: they are dropped. */
  onLog?: (message: string) => void;
};

/** A conversation with an agent. Disposing it ends what the agent started and removes what the session made. */
export type AgentSession = AsyncDisposable & {
  readonly sandbox: Sandbox;
  readonly files: AttemptFiles;
  /** The agent's own id of the session. Absent before the first turn, and for agents without the capability `conversation`. */
  readonly id: string | undefined;
  readonly turns: number;
  /**
   * Sends a prompt: the first begins the session, each further one resumes it. Resolves with the turn for whatever the
   * agent did, its failures included. Events carry the number of their turn, from 0, and no two calls have one id.
   *
   * Rejects with a WhetstoneError: `session-state-wrong` while another turn runs, `agent-session-missing` for a further
   * prompt when the agent reported no session id, and others when the agent could not be driven at all.
   */
  send(input: string | TurnInput, options?: TurnOptions): DrivenTurn;
};

/**
 * Opens a conversation with an agent in a folder. The agent is one of `createAgent`, `defineAgent` or
 * `defineSandboxAgent`.
 *
 * @throws WhetstoneError `sandbox-unavailable` if the default sandbox cannot start, `instructions-above-workspace` if the
 * agent would read what lies above its project
 */
export async function openSession(agent: Agent, options: SessionOptions = {}): Promise<AgentSession> {
  const { folder = '.', above = 'refused', sandbox } = options;
  if (!sandbox && above === 'refused') {
    const real = await realpath(folder).catch(() => resolve(folder));
    refuseAbove(agent.name, real, placesAbove(agent));
  }
  const place = await openPlace(options);
  const hosted = hostedAgent(agent);
  const session: AgentContext['session'] = {
    isNew: options.resume === undefined,
    ...present({ id: options.resume }),
  };
  const stamp = createTurnStamp();
  let turns = 0;
  let isRunning = false;

  return {
    get sandbox() {
      if (place.sandbox) return place.sandbox;
      throw new TypeError(`The session of agent ${agent.name} has no sandbox.`);
    },
    files: place.files,
    get id() {
      return session.id;
    },
    get turns() {
      return turns;
    },
    send: (input, turnOptions = {}) =>
      startTurn(async (emit, left) => {
        if (isRunning) {
          throw new WhetstoneError('session-state-wrong', `Agent ${agent.name} is still in a turn.`, {
            hint: 'Await the turn before you send the next prompt.',
          });
        }
        if (turns > 0 && session.id === undefined) throw noSessionId(agent);
        if (turns > 0) session.isNew = false;
        const index = turns;
        turns += 1;
        isRunning = true;
        try {
          const turnInput = typeof input === 'string' ? readPrompt(input) : input;
          await placePrompt(place.files, turnInput.text);
          const events: StreamEvent[] = [];
          const add = (event: StreamEvent) => {
            const stamped = stamp(event, index);
            events.push(stamped);
            turnOptions.onEvent?.(stamped);
            emit(stamped);
          };
          const workdir = folderOf(place.sandbox, folder);
          const before = sandbox ? undefined : await listFiles(workdir);
          const turnContext: AgentContext = {
            ...contextIn(place, { ...options, ...turnOptions }),
            signal: AbortSignal.any(
              [left, options.signal, turnOptions.signal].filter((one) => one !== undefined),
            ),
            session,
            log: turnOptions.onLog ?? (() => undefined),
            emit: add,
          };
          const send = () => hosted.send(turnInput, turnContext);
          const turn =
            options.sideEffects === 'none' ? await withoutSideEffects(workdir, send, add) : await send();
          if (before) newFilesIn(events, before, workdir).forEach(add);
          return {
            ...turn,
            events,
            facts: { ...turn.facts, ...factsOf({ ...turn, events }, session.id, place) },
          };
        } finally {
          isRunning = false;
        }
      }),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** What the session knows of a turn: its id, if no event has it (Copilot says it last), and what the default sandbox enforced. */
function factsOf({ events, facts }: Turn, id: string | undefined, { isolation }: SessionPlace): AgentFacts {
  const isSaid = events.some((event) => event.type === 'session.started' && event.sessionId !== undefined);
  return {
    ...present({ sessionId: facts?.sessionId ?? (isSaid ? undefined : id) }),
    ...(isolation && enforcedOn(facts, isolation)),
  };
}

/** The workspace on this machine, where commands may see it at another path. Without a sandbox, it is `folder`. */
const folderOf = (sandbox: Sandbox | undefined, folder: string): string =>
  sandbox ? sandbox.hostPath(sandbox.workdir) : resolve(folder);

async function placePrompt({ promptFile, outputDir }: AttemptFiles, prompt: string): Promise<void> {
  // The agent could write there during the last turn, so the path may now be a link to somewhere else.
  mkdirSync(outputDir, { recursive: true });
  mkdirSync(dirname(promptFile), { recursive: true });
  try {
    writeFileSync(promptFile, prompt, { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await rm(promptFile, { recursive: true, force: true });
    writeFileSync(promptFile, prompt, { flag: 'wx' });
  }
}

function noSessionId({ name }: Agent): WhetstoneError {
  return new WhetstoneError(
    'agent-session-missing',
    `Agent ${name} did not report a session id, so follow-ups cannot run.`,
    { hint: 'An adapter with the capability `conversation` sets `session.id` in its first turn.' },
  );
}
