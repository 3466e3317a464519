import assert from 'node:assert/strict';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isJsonObject } from '@whetstone/events/json';
import fc from 'fast-check';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { SessionEvent } from '../events/session-event.ts';
import { refusalOf } from '../llm/__fixtures__/history-rules.ts';
import { Session } from '../session/session.ts';
import { type Plan, randomPlan } from './random-plan.ts';
import { type Life, type RandomRun, runPlan, type SentRequest, sendNext } from './random-session.ts';
import { scriptedModel } from './scripted-model.ts';
import { wireBody } from './wire-body.ts';

/** Plays random sessions. Throws with the smallest plan after which something does not hold that always has to. */
export async function checkRandomSessions(
  count: number,
  environmentOf: () => ExecutionEnvironment,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(randomPlan, async (plan) => {
      const run = await runPlan(plan, environmentOf());
      for (const request of run.requests) await checkRequest(request);
      for (const life of run.lives) checkGrammar(life);
      checkErrors(run);
      for (const { session } of run.lives) assert.equal(session.state, 'CLOSED');
      await checkRestored(run);
    }),
    { numRuns: count, examples: [[parkedTwice]] },
  );
}

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
      assert.ok(callId !== '' && !used.has(callId), `the id ${callId} is empty or used twice`);
      used.add(callId);
    }
    const next = prompt[index + 1];
    const answered =
      next?.role === 'tool'
        ? next.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    assert.equal(answered.join(), callIds.join());
  });
}

const HALF_CHARACTER = /\\ud[89a-f][0-9a-f]{2}/i;

async function checkRequest({ provider, options }: SentRequest): Promise<void> {
  // Without the system prompt, which is the longest part and always the same.
  const prompt = options.prompt.filter(({ role }) => role !== 'system');
  checkAnswers(prompt);
  const text = JSON.stringify(prompt);
  assert.ok(text.isWellFormed());
  // A patch is plain text, in which an escape is nothing but characters.
  if (HALF_CHARACTER.test(text)) assert.doesNotMatch(JSON.stringify(prompt, withoutPatch), HALF_CHARACTER);
  assert.equal(refusalOf(provider, await wireBody(provider, { ...options, prompt })), undefined);
}

const withoutPatch = (_key: string, value: unknown) =>
  isJsonObject(value) && value.toolName === 'apply_patch' ? { ...value, input: '' } : value;

const BRACKET = /^(SESSION|LLM_CALL|TOOL_CALL|ASSISTANT_TEXT|REASONING|SUBAGENT)_(START|END)$/;

/** Happen once for each id. The other brackets may open again: a retry, the next input of a subagent. */
const ONCE: ReadonlySet<string> = new Set(['SESSION', 'TOOL_CALL']);

/** What opens closes, once; one start and one end of each session and tool call, one end for each submit. */
function checkGrammar({ events, session, submits }: Life): void {
  const open = new Set<string>();
  const begun = new Set<string>();
  for (const { kind, data, sessionId } of events) {
    const [, name, side] = BRACKET.exec(kind) ?? [];
    if (name === undefined) continue;
    const id = `${sessionId}:${name}:${identity(data)}`;
    assert.equal(open.has(id), side === 'END', id);
    if (side === 'END') open.delete(id);
    else open.add(id);
    if (ONCE.has(name)) {
      assert.equal(begun.has(id), side === 'END', id);
      begun.add(id);
    }
  }
  assert.deepEqual([...open], []);
  const own = events.filter((event) => event.sessionId === session.id);
  assert.deepEqual([own[0]?.kind, own.at(-1)?.kind], ['SESSION_START', 'SESSION_END']);
  assert.ok(events.at(-1) === own.at(-1));
  assert.equal(own.filter((event) => event.kind === 'PROCESSING_END').length, submits);
}

/** Only a hook, the model, its provider or its answer ends an input with an error, and malformed inputs leave no trace. */
function checkErrors({ lives, refusals }: RandomRun): void {
  for (const { kind, data } of lives.flatMap(({ events }) => events))
    if (kind === 'PROCESSING_END' && data.error)
      assert.match(data.error.code, /^(model-|output-invalid$|response-refused$|input-blocked$)/);
  for (const { errors, kept } of refusals) {
    for (const error of errors)
      assert.match(
        String(error),
        /^TypeError: (submit|steer|followUp): input\[|: The session is closed\./,
      );
    assert.equal(kept, false);
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
    assert.equal(JSON.stringify(idle(await restored.snapshot())), JSON.stringify(idle(snapshot)));
    if (!snapshot.parked) assert.deepEqual(restored.history.slice(0, snapshot.turns.length), snapshot.turns);
    const sent = await sendNext(restored);
    checkAnswers(JSON.parse(sent));
    if (next !== undefined && snapshot === snapshots.at(-1)) assert.equal(sent, next);
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
  effort: 'unset',
};
