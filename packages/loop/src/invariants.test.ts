import os from 'node:os';
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { APICallError } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  finish,
  type ModelStep,
  says,
  scriptedModel,
  textParts,
  toolCall,
} from './__fixtures__/scripted-model.ts';
import { systemClock } from './clock.ts';
import { LocalExecutionEnvironment } from './environment/local-environment.ts';
import { createOpenAiProfile } from './profiles/openai-profile.ts';
import { Session } from './session.ts';
import type { SessionEvent } from './session-event.ts';
import { defineTool } from './tools/tool.ts';

/** What the model does at one call, what the tools do, and what the host does meanwhile. */
type Action =
  | { kind: 'text'; text: string }
  | {
      kind: 'tools';
      names: string[];
      ids: string[];
      input: string;
      finish: 'tool-calls' | 'length' | 'content-filter';
    }
  | { kind: 'fail'; status: number }
  | { kind: 'break_off' }
  | { kind: 'empty' }
  | { kind: 'pause' };
type Move = 'nothing' | 'interrupt' | 'steer' | 'follow_up' | 'snapshot';

const oddText = fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00', '😀', '\0', '\n'), maxLength: 6 });
const toolName = fc.constantFrom('good', 'throws', 'odd', 'slow', 'unknown.tool', 'strict');
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('text' as const), text: oddText }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('tools' as const),
      names: fc.array(toolName, { minLength: 1, maxLength: 4 }),
      // Ids repeat within a response and across them, or are missing.
      ids: fc.array(fc.constantFrom('', 'a', 'b', 'c'), { minLength: 4, maxLength: 4 }),
      input: fc.constantFrom('{}', '{"n":1}', '{"n":', '[]', '', '{"n":"\\ud83d"}'),
      finish: fc.constantFrom(
        'tool-calls' as const,
        'tool-calls' as const,
        'length' as const,
        'content-filter' as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('fail' as const), status: fc.constantFrom(429, 500, 400) }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Action>({ kind: 'break_off' }, { kind: 'empty' }, { kind: 'pause' }),
  },
);
const move = fc.constantFrom<Move>(
  'nothing',
  'nothing',
  'nothing',
  'interrupt',
  'steer',
  'follow_up',
  'snapshot',
);
type Plan = { actions: Action[]; duringCalls: Move[]; duringTools: Move[] };
const plan: fc.Arbitrary<Plan> = fc.record({
  actions: fc.array(action, { maxLength: 12 }),
  duringCalls: fc.array(move, { maxLength: 12 }),
  duringTools: fc.array(move, { maxLength: 12 }),
});

function toStep(what: Action): ModelStep {
  switch (what.kind) {
    case 'text':
      return [...textParts(what.text), finish('stop')];
    case 'tools': {
      const parts = what.names.map((name, index) => toolCall(name, what.input, what.ids[index] ?? ''));
      return [...textParts('working'), ...parts, finish(what.finish)];
    }
    case 'fail':
      return new APICallError({
        message: 'no',
        url: 'http://x',
        requestBodyValues: {},
        statusCode: what.status,
      });
    case 'break_off':
      return [...textParts('ha'), toolCall('good', '{"n":1}')].slice(
        0,
        3,
      ) satisfies LanguageModelV4StreamPart[];
    case 'empty':
      return [finish('stop')];
    case 'pause':
      return [...textParts('wait'), finish('stop', 'pause_turn')];
  }
}

const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
const environment = new LocalExecutionEnvironment({ workingDirectory: os.tmpdir() });

async function runPlan({ actions, duringCalls, duringTools }: Plan) {
  const events: SessionEvent[] = [];
  const snapshots: unknown[] = [];
  const interrupts: Promise<void>[] = [];
  const make = (given: Move | undefined) => {
    if (given === 'interrupt') interrupts.push(session.interrupt());
    if (given === 'steer') session.steer('turn \ud83d left');
    if (given === 'follow_up') session.followUp('and then');
    if (given === 'snapshot') snapshots.push(JSON.parse(JSON.stringify(session.history)));
  };
  const profile = createOpenAiProfile({ model: 'm' });
  const register = (
    name: string,
    executor: () => string | Promise<string>,
    concurrency: 'shared' | 'exclusive',
  ) =>
    profile.toolRegistry.register(
      defineTool({
        definition: { name, description: name, parameters },
        concurrency,
        executor: () => {
          make(duringTools.shift());
          return executor();
        },
      }),
    );
  register('good', () => 'fine', 'shared');
  register('strict', () => 'fine', 'exclusive');
  register('odd', () => '\ud83d half \0 and '.repeat(3000), 'shared');
  register('slow', () => new Promise((resolve) => setImmediate(resolve, 'late')), 'shared');
  register(
    'throws',
    () => {
      throw new Error('no \udead');
    },
    'exclusive',
  );
  const model = scriptedModel(
    [
      ...actions.map(
        (what): ModelStep =>
          () => {
            make(duringCalls.shift());
            return toStep(what);
          },
      ),
    ],
    'anthropic.messages',
  );
  const session = new Session({
    profile,
    environment,
    model,
    clock: { ...systemClock, random: () => 0, sleep: async () => {} },
    config: { maxToolRoundsPerInput: 6 },
  });
  session.on((event) => events.push(event));
  await session.submit('start \ud83d');
  if (session.state === 'IDLE') await session.submit('go on');
  await Promise.all(interrupts);
  const restored = Session.restore(JSON.parse(JSON.stringify(await session.snapshot())), {
    profile,
    environment,
    model: scriptedModel([says('restored')], 'anthropic.messages'),
  });
  await session.close();
  return { requests: model.requests, events, session, restored, snapshots };
}

/** Each tool call is answered exactly once and directly after, and no id is used twice. */
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

/** What opens closes, once; one start and end of the session, one end for each submit. */
function checkGrammar(events: readonly SessionEvent[]): void {
  const open = new Set<string>();
  const pairs: Record<string, string> = { LLM_CALL: '', TOOL_CALL: '', ASSISTANT_TEXT: '', REASONING: '' };
  for (const { kind, data } of events) {
    const [, name, side] = /^(LLM_CALL|TOOL_CALL|ASSISTANT_TEXT|REASONING)_(START|END)$/.exec(kind) ?? [];
    if (name === undefined || !(name in pairs)) continue;
    const id = `${name}:${'callId' in data ? data.callId : 'blockId' in data ? data.blockId : ''}`;
    expect(open.has(id)).toBe(side === 'END');
    if (side === 'START') open.add(id);
    else open.delete(id);
  }
  expect([...open]).toEqual([]);
  const count = (kind: string) => events.filter((event) => event.kind === kind).length;
  expect([count('SESSION_START'), count('SESSION_END')]).toEqual([1, 1]);
  expect(count('PROCESSING_END')).toBe(2);
}

test('whatever happens, every request is valid, the events nest and the history can be restored', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const { requests, events, session, restored } = await runPlan(structuredClone(given));
      for (const request of requests) checkRequest(request);
      checkGrammar(events);
      expect(session.state).toBe('CLOSED');
      expect(session.history.at(-1)?.kind).not.toBe(undefined);
      expect(restored.history).toEqual(session.history);
      const model = scriptedModel([says('ok')], 'anthropic.messages');
      restored.setModel(model);
      await restored.submit('after');
      for (const request of model.requests) checkRequest(request);
      await restored.close();
    }),
    { numRuns: 300 },
  );
});
