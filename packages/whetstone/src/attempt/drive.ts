import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import type { AgentContext, AttemptFiles, Turn, TurnInput } from '@whetstone/agents';
import { WhetstoneError } from '@whetstone/errors';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Lane } from '@whetstone/gateway';
import type { Sandbox } from '@whetstone/sandbox';
import type { CaseLayout } from '../record/layout.ts';
import type { AttemptFolder } from './attempt-folder.ts';
import { checkAnswer } from './check-answer.ts';
import { openEventLog } from './event-log.ts';
import { joinTurns } from './join-turns.ts';
import type { Attempt, Lab } from './lab.ts';
import { createTurnStamp } from './stamp-turns.ts';
import type { Trace } from './trace.ts';

/** What the turns of one attempt use. */
export type TurnResources = {
  sandbox: Sandbox;
  lane: Lane | undefined;
  folder: Pick<AttemptFolder, 'promptFile' | 'outputDir' | 'stateDir'>;
  files: CaseLayout;
};

/**
 * Sends the prompt and then the task's follow-ups, all in one session. A turn that does not complete is the last one.
 * Resolves with the whole session as one turn.
 */
export async function drive(
  attempt: Attempt,
  { mask }: Lab,
  resources: TurnResources,
  trace: Trace,
): Promise<Turn> {
  await using log = await openEventLog(resources.files.events, mask);
  const session: AgentContext['session'] = { isNew: true };
  const stamp = createTurnStamp();
  const { followUps = [], outputSchema } = attempt.task;
  const prompts = [attempt.prompt, ...followUps];
  for (const [index, text] of prompts.entries()) {
    if (index > 0) {
      if (session.id === undefined) throw noSessionId(attempt);
      session.isNew = false;
      await handOverPrompt(text, `turn ${index + 1} of ${prompts.length}`, resources);
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
    const reply = await attempt.agent.send(input, {
      ...contextOf(attempt, resources),
      session,
      log: (message) => log.append({ type: 'raw', turn: index, source: 'host', native: { log: message } }),
      emit,
    });
    const turn = input.outputSchema ? await checkAnswer(reply, input.outputSchema, emit) : reply;
    trace.turns.push({ ...turn, events });
    if (turn.status !== 'completed') break;
  }
  const whole = joinTurns(trace.turns);
  if (!whole) throw new TypeError('An attempt has no turn.');
  return whole;
}

function contextOf(
  attempt: Attempt,
  { sandbox, lane, folder, files }: TurnResources,
): Omit<AgentContext, 'session' | 'log' | 'emit'> {
  const attemptFiles: AttemptFiles = {
    promptFile: folder.promptFile,
    outputDir: folder.outputDir,
    stateDir: folder.stateDir,
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

/** Writes the next prompt to the file that the agent reads, and appends it to the prompts in the run directory. */
async function handOverPrompt(
  prompt: string,
  title: string,
  { folder, files }: TurnResources,
): Promise<void> {
  // The agent could write to the folder during its turn: what lies there now may be a link to somewhere else.
  await mkdir(folder.outputDir, { recursive: true });
  await rm(folder.promptFile, { recursive: true, force: true });
  await writeFile(folder.promptFile, prompt, { flag: 'wx' });
  await appendFile(files.prompt, `\n\n--- ${title} ---\n\n${prompt}`);
}

function noSessionId({ agentConfig }: Attempt): WhetstoneError {
  return new WhetstoneError(
    'agent-session-missing',
    `The agent ${agentConfig.name} told no session to go on with.`,
    {
      hint: 'An adapter with the capability `conversation` sets `session.id` in its first turn.',
    },
  );
}
