import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import type { AgentContext, AttemptFiles, Turn, TurnInput } from '@whetstone/agents';
import { WhetstoneError } from '@whetstone/errors';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Lane } from '@whetstone/gateway';
import type { Sandbox } from '@whetstone/sandbox';
import type { CaseLayout } from '../record/layout.ts';
import type { Trace } from './attempt.ts';
import { openEventLog } from './event-log.ts';
import { holdToSchema } from './hold-to-schema.ts';
import { joinTurns } from './join-turns.ts';
import type { Attempt, Lab } from './lab.ts';
import { createTurnStamp } from './stamp-turns.ts';

/** Where an attempt's turns happen. */
export type Place = {
  sandbox: Sandbox;
  lane: Lane | undefined;
  desk: { promptFile: string; outputDir: string; stateDir: string };
  files: CaseLayout;
};

/** How many turns an attempt has when nothing goes wrong. */
export const turnsOf = ({ task }: Pick<Attempt, 'task'>): number => 1 + (task.followUps?.length ?? 0);

/**
 * Sends the prompt and then the task's follow-ups, each to the session of the one before. A turn that does not complete
 * is the last. Resolves with the whole session as one turn.
 */
export async function drive(attempt: Attempt, { mask }: Lab, place: Place, trace: Trace): Promise<Turn> {
  await using log = await openEventLog(place.files.events, mask);
  const session: AgentContext['session'] = { isNew: true };
  const stamp = createTurnStamp();
  const { followUps = [], outputSchema } = attempt.task;
  const prompts = [attempt.prompt, ...followUps];
  for (const [index, text] of prompts.entries()) {
    if (index > 0) {
      if (session.id === undefined) throw nothingToGoOnWith(attempt);
      session.isNew = false;
      await handOver(text, `turn ${index + 1} of ${prompts.length}`, place);
    }
    const events: StreamEvent[] = [];
    const emit = (event: StreamEvent): void => {
      const stamped = stamp(event, index);
      events.push(stamped);
      log.append(stamped);
    };
    trace.turnsSent += 1;
    const isLast = index === prompts.length - 1;
    const input: TurnInput = { text, ...(isLast && outputSchema && { outputSchema }) };
    const sent = await attempt.agent.send(input, {
      ...contextOf(attempt, place),
      session,
      log: (message) => log.append({ type: 'raw', turn: index, source: 'host', native: { log: message } }),
      emit,
    });
    const turn = input.outputSchema ? await holdToSchema(sent, input.outputSchema, emit) : sent;
    trace.turns.push({ ...turn, events });
    if (turn.status !== 'completed') break;
  }
  const whole = joinTurns(trace.turns);
  if (!whole) throw new TypeError('An attempt has no turn.');
  return whole;
}

function contextOf(
  attempt: Attempt,
  { sandbox, lane, desk, files }: Place,
): Omit<AgentContext, 'session' | 'log' | 'emit'> {
  const attemptFiles: AttemptFiles = {
    promptFile: desk.promptFile,
    outputDir: desk.outputDir,
    stateDir: desk.stateDir,
    stdoutFile: files.stdout,
    stderrFile: files.stderr,
    taskId: attempt.task.id,
    variant: attempt.variant.name,
  };
  const { agentConfig } = attempt;
  const model = agentConfig.runner === 'loop' ? agentConfig.loop.model : undefined;
  return {
    signal: attempt.signal,
    flags: {},
    sandbox,
    declared: attempt.context,
    files: attemptFiles,
    timeoutMs: (attempt.task.timeoutSeconds ?? attempt.agentConfig.timeoutSeconds) * 1000,
    ...(lane && { lane: { baseUrl: lane.baseUrl, key: lane.key, env: lane.env } }),
    ...present({ model }),
  };
}

/** Puts the next prompt where the agent looks for it, and beside those that the record has. */
async function handOver(prompt: string, title: string, { desk, files }: Place): Promise<void> {
  // The agent had the folder for a turn: what lies there now may be a link to somewhere else.
  await mkdir(desk.outputDir, { recursive: true });
  await rm(desk.promptFile, { recursive: true, force: true });
  await writeFile(desk.promptFile, prompt, { flag: 'wx' });
  await appendFile(files.prompt, `\n\n--- ${title} ---\n\n${prompt}`);
}

function nothingToGoOnWith({ agentConfig }: Attempt): WhetstoneError {
  return new WhetstoneError('agent-session', `The agent ${agentConfig.name} told no session to go on with.`, {
    hint: 'An adapter with the capability `conversation` sets `session.id` in its first turn.',
  });
}
