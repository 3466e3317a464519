import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  environment,
  type Plan,
  type RandomRun,
  randomPlan,
  runPlan,
  sendNext,
} from '../__fixtures__/random-session.ts';
import { scriptedModel } from '../__fixtures__/scripted-model.ts';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import type { SessionEvent } from '../events/session-event.ts';
import { Session } from './session.ts';

afterAll(() => environment.cleanup());

/**
 * Each tool call is answered exactly once and directly after, no answer is without its call, and no id is used twice.
 */
function checkAnswers(prompt: LanguageModelV4Prompt): void {
  const used = new Set<string>();
  prompt.forEach((message, index) => {
    const callIds =
      message.role === 'assistant'
        ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [];
    for (const callId of callIds) {
      expect(callId).not.toBe('');
      expect(used.has(callId)).toBe(false);
      used.add(callId);
    }
    const next = prompt[index + 1];
    const answered =
      next?.role === 'tool'
        ? next.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    expect(answered).toEqual(callIds);
  });
}

function checkRequest(request: LanguageModelV4CallOptions): void {
  checkAnswers(request.prompt);
  const text = JSON.stringify(request.prompt);
  expect(text).not.toMatch(/\\ud[89a-f][0-9a-f]{2}/i);
  expect(text.isWellFormed()).toBe(true);
}

const BRACKET = /^(SESSION|LLM_CALL|TOOL_CALL|ASSISTANT_TEXT|REASONING|SUBAGENT)_(START|END)$/;

/** Happen once for each id. The other brackets may open again: a retry, the next input of a subagent. */
const ONCE: ReadonlySet<string> = new Set(['SESSION', 'TOOL_CALL']);

/** What opens closes, once; one start and one end of each session and tool call, one end for each submit. */
function checkGrammar({ events, session, submits }: RandomRun): void {
  const open = new Set<string>();
  const begun = new Set<string>();
  for (const { kind, data, sessionId } of events) {
    const [, name, side] = BRACKET.exec(kind) ?? [];
    if (name === undefined) continue;
    const id = `${sessionId}:${name}:${identity(data)}`;
    expect([kind, open.has(id)]).toEqual([kind, side === 'END']);
    if (side === 'END') open.delete(id);
    else open.add(id);
    if (ONCE.has(name)) {
      expect([kind, begun.has(id)]).toEqual([kind, side === 'END']);
      begun.add(id);
    }
  }
  expect([...open]).toEqual([]);
  const own = events.filter((event) => event.sessionId === session.id);
  expect(own[0]?.kind).toBe('SESSION_START');
  expect(own.at(-1)?.kind).toBe('SESSION_END');
  expect(events.at(-1)).toBe(own.at(-1));
  expect(own.filter((event) => event.kind === 'PROCESSING_END')).toHaveLength(submits);
}

/** Only a hook, the model, its provider or its answer ends an input with an error, and malformed inputs leave no trace. */
function checkErrors({ events, refusals }: RandomRun): void {
  for (const { kind, data } of events)
    if (kind === 'PROCESSING_END' && data.error)
      expect(data.error.code).toMatch(/^(model-|output-invalid$|response-refused$|input-blocked$)/);
  for (const { errors, kept } of refusals) {
    for (const error of errors)
      expect(String(error)).toMatch(/^TypeError: (submit|steer|followUp): input\[|: The session is closed\./);
    expect(kept).toBe(false);
  }
}

function identity(data: SessionEvent['data']): string {
  if ('callId' in data && !('agentId' in data)) return data.callId ?? '';
  if ('blockId' in data) return data.blockId;
  return 'agentId' in data ? data.agentId : '';
}

/** Whoever restores a snapshot sends what the session itself would have sent, byte for byte. */
async function checkRestored({ snapshots, options, next }: RandomRun): Promise<void> {
  for (const snapshot of snapshots) {
    const model = scriptedModel([]);
    const restored = Session.restore(snapshot, { ...options, model });
    expect(idle(await restored.snapshot())).toEqual(idle(snapshot));
    if (!snapshot.parked) expect(restored.history.slice(0, snapshot.turns.length)).toEqual(snapshot.turns);
    const sent = await sendNext(restored);
    checkAnswers(JSON.parse(sent));
    if (next !== undefined && snapshot === snapshots.at(-1)) expect(sent).toBe(next);
  }
}

/** The subagents of a snapshot, and theirs, but for what is said of those that worked. */
function idle({ subagents = [] }: SessionSnapshot): unknown {
  return subagents.map(
    ({ report: { status, success, output, turnsUsed, usage, costUsd }, session, ...facts }) => ({
      ...facts,
      ...(status !== 'RUNNING' &&
        status !== 'ABORTED' && { status, success, output, turnsUsed, usage, costUsd }),
      turns: session?.turns,
      spent: session?.spent,
      below: session && idle(session),
    }),
  );
}

/** Of two parked calls the first is refused when the round goes on, then the second is parked too. */
const parkedTwice: Plan = {
  actions: [
    {
      kind: 'tools',
      names: ['good', 'throws'],
      ids: ['', '', '', ''],
      input: '{}',
      finish: 'tool-calls',
    },
  ],
  duringCalls: [],
  duringTools: [],
  answers: ['yes', 'yes', 'park', 'throw', 'yes', 'park'],
  inputs: ['plain', 'resume'],
  steeringMode: 'after_round',
};

const RUNS = 10_000;

test(`whatever happens, in ${RUNS} random sessions: requests are valid, events nest, snapshots restore`, async () => {
  await fc.assert(
    fc.asyncProperty(randomPlan, async (plan) => {
      const run = await runPlan(plan);
      for (const request of run.requests) checkRequest(request);
      checkGrammar(run);
      checkErrors(run);
      expect(run.session.state).toBe('CLOSED');
      await checkRestored(run);
    }),
    { numRuns: RUNS, examples: [[parkedTwice]] },
  );
}, 300_000);
