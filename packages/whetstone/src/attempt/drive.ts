import { appendFileSync } from 'node:fs';
import { openSession, type SessionOptions, type Turn, type TurnInput } from '@whetstone/agents';
import { readPrompt } from '@whetstone/agents/config';
import type { AttemptFolder } from '@whetstone/agents/evaluator';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Lane } from '@whetstone/gateway';
import type { Sandbox } from '@whetstone/sandbox';
import type { CaseLayout } from '../record/layout.ts';
import { checkAnswer } from './check-answer.ts';
import { openEventLog } from './event-log.ts';
import { joinTurns } from './join-turns.ts';
import type { Attempt, Lab, Trace } from './lab.ts';

/** What the turns of an attempt share. An agent without a workspace has no sandbox. */
export type TurnResources = {
  sandbox?: Sandbox;
  lane: Lane | undefined;
  folder: AttemptFolder;
  files: CaseLayout;
};

/** Sends the prompt and the follow-ups, until a turn does not complete. Resolves with the whole session as one turn. */
export async function drive(
  attempt: Attempt,
  { mask, ask }: Lab,
  resources: TurnResources,
  trace: Trace,
): Promise<Turn> {
  using log = openEventLog(resources.files.events, mask);
  const options = { ...sessionOptions(attempt, resources), ...present({ ask }) };
  await using session = await openSession(attempt.agent, options);
  const { followUps = [], outputSchema } = attempt.task;
  const prompts = [attempt.prompt, ...followUps];
  for (const [index, text] of prompts.entries()) {
    const isLast = index === prompts.length - 1;
    const input: TurnInput = { ...readPrompt(text), ...(isLast && outputSchema && { outputSchema }) };
    // Without the id of its session a follow-up is refused.
    if (session.id !== undefined) {
      const title = `--- turn ${index + 1} of ${prompts.length} ---`;
      appendFileSync(resources.files.prompt, `\n\n${title}\n\n${mask.text(text)}`);
    }
    const sending = session.send(input, {
      onEvent(event) {
        log.append(event);
        if (event.type === 'action.called')
          attempt.onProgress?.({ phase: 'agent', action: actionText(event) });
      },
      onLog: (message) => log.append({ type: 'raw', turn: index, source: 'host', native: { log: message } }),
    });
    trace.turnsSent = session.turns;
    const reply = await sending;
    const addError = (event: StreamEvent): void => {
      reply.events.push({ ...event, turn: index });
      log.append({ ...event, turn: index });
    };
    const turn = input.outputSchema ? await checkAnswer(reply, input.outputSchema, addError) : reply;
    trace.turns.push(turn);
    if (turn.status !== 'completed') break;
  }
  const whole = joinTurns(trace.turns);
  if (!whole) throw new TypeError('An attempt has no turn.');
  return whole;
}

/** The tool and, where it has one, its command, path or pattern. */
export function actionText({ name, input }: Extract<StreamEvent, { type: 'action.called' }>): string {
  const given = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  const subject = [given.command, given.path, given.file_path, given.pattern].find(
    (value) => typeof value === 'string',
  );
  return subject === undefined ? name : `${name} ${subject}`;
}

export function sessionOptions(
  { agentConfig, context, signal, task, variant }: Attempt,
  { sandbox, lane, folder, files }: TurnResources,
): SessionOptions {
  return {
    sandbox: sandbox ?? 'none',
    files: {
      promptFile: folder.promptFile,
      outputDir: folder.outputDir,
      stateDir: folder.stateDir,
      stdoutFile: files.stdout,
      stderrFile: files.stderr,
      taskId: task.id,
      variant: variant.name,
    },
    declared: context,
    signal,
    timeoutMs: (task.timeoutSeconds ?? agentConfig.timeoutSeconds) * 1000,
    // Without a sandbox there is no workspace that a turn could change.
    ...present({ sideEffects: sandbox && (task.sideEffects ?? agentConfig.sideEffects) }),
    ...present({ lane, model: agentConfig.runner === 'loop' ? agentConfig.loop.model : undefined }),
  };
}
