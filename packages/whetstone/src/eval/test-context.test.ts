import { type Agent, type AgentCapabilities, defineAgent, defineSandboxAgent } from '@whetstone/agents';
import { expect, test } from 'vitest';
import { defineEval } from './define.ts';

// `npm run typecheck` is the test: a line after `@ts-expect-error` that compiles is an error.

const turn = { events: [], status: 'completed' } as const;
const send = async () => ({ ...turn, events: [] });
const classifier = defineAgent({ name: 'classifier', capabilities: {}, send });
const bot = defineAgent({ name: 'bot', capabilities: { conversation: true, toolObservability: true }, send });
const coder = defineSandboxAgent({ name: 'coder', capabilities: { toolObservability: true }, send });

const evals = [
  defineEval<typeof classifier>({
    async test(t) {
      const answer = await t.send('Classify this.');
      answer.outputEquals({ intent: 'refund' });
      t.maxTokens(100);
      // @ts-expect-error: only with the capability `toolObservability`
      t.calledTool('shell');
      // @ts-expect-error: also on a turn
      answer.notEvent('error');
      // @ts-expect-error: only with the capability `conversation`
      t.newSession();
      // @ts-expect-error: like the session
      t.reply.length;
      // @ts-expect-error: only with the capability `workspace`
      t.fileChanged('a.ts');
      // @ts-expect-error: an answer is another message, so only with the capability `conversation`
      await t.respond('yes');
      // @ts-expect-error: so is the message of a simulated user
      await t.converse({ says: ['Hello.'] });
      // A judge can be asked about every agent, also about one turn.
      t.judge('Names the intent', { votes: 3 }).atLeast(0.5);
      answer.judge(['Is short', 'Is polite'], { by: 'agent', of: answer.data });
      // @ts-expect-error: a rubric is text
      t.judge(1);
    },
  }),
  defineEval<typeof bot>({
    async test(t) {
      const other = t.newSession();
      const answer = await other.send({ text: 'Hello.' });
      answer.calledTool('greet');
      other.usedNoTools();
      t.reply.trim();
      t.respond(({ kind, options }) => (kind === 'question' ? options[0] : undefined));
      const next = await other.respond({ color: 'red' });
      next.event('message');
      // @ts-expect-error: the turn that an answer leads to has the assertions of this agent only
      next.fileChanged('a.ts');
      // @ts-expect-error: a responder answers with text, yes, no or the fields of a form
      t.respond(() => 3);
      const talk = await other.converse({ goal: 'Get a refund.', limit: 4 });
      talk.turns[0]?.calledTool('refund');
      // @ts-expect-error: a simulated user has a goal or a script
      await t.converse({ limit: 4 });
      // @ts-expect-error: the turns of a talk as well
      talk.turns[0]?.fileDeleted('a.ts');
      // @ts-expect-error: only with the capability `workspace`
      t.sandbox.diff.isEmpty();
      // @ts-expect-error: what a turn answered is on the turn
      t.outputEquals({});
    },
  }),
  defineEval<typeof coder>({
    async test(t) {
      await t.send('Fix it.');
      t.fileDeleted('b.ts');
      t.sandbox.diff.excludes('secret');
      t.judge('Changes only the sum', { of: t.sandbox.diff.patch() });
      // @ts-expect-error: only with the capability `conversation`
      t.newSession();
      // @ts-expect-error: nor is there anybody to answer
      t.respond(() => true);
    },
  }),
  defineEval({
    requires: { workspace: true },
    test(t) {
      t.fileChanged('a.ts');
      // @ts-expect-error: the eval does not say that it needs it
      t.calledTool('shell');
    },
  }),
  defineEval({
    test(t) {
      // Without `requires`, everything is there, and what the agent cannot do is an error of the case.
      t.calledTool('shell');
      t.fileChanged('a.ts');
      t.newSession();
    },
  }),
];

test('`t` has no method for what an agent cannot do, at the level of types', () => {
  const agents: Agent<AgentCapabilities>[] = [classifier, bot, coder];
  expect(agents.map(({ capabilities }) => capabilities)).toEqual([
    {},
    { conversation: true, toolObservability: true },
    { toolObservability: true, workspace: true },
  ]);
  expect(evals.every(({ test: code }) => typeof code === 'function')).toBe(true);
});
