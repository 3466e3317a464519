// Reference: the methods that `capabilities` enable, and "ctx vs t: two names, same data".
import { defineEval, includes, isFalse, isTrue, jsonMatch } from 'whetstone';
import type inProcess from '../agents/in-process.ts';

export default {
  turns: defineEval<typeof inProcess>({
    async test(t) {
      const turn = await t.send('Is it?');
      turn.outputEquals({ intent: 'question', tone: t.flags.tone, model: t.model });
      turn.outputMatches(jsonMatch({ intent: 'question' }));
      t.check(t.reply, includes('"tone":"warm"'));
      await t.newSession().send('Do it.');
      t.usedNoTools();
      t.notEvent('error');
      t.maxTokens(100);
      t.maxCost(1).optional();
      t.check(t.signal.aborted, isFalse());
      t.log(`${t.model}, ${t.flags.tone}`);
    },
  }),
  tools: defineEval<typeof inProcess>({
    async test(t) {
      const turn = await t.send('everything');
      t.calledTool('lookup', { input: { topic: 'refunds' } });
      t.notCalledTool('shell');
      t.toolOrder(['load_skill', 'lookup']);
      t.maxToolCalls(3);
      t.loadedSkill('tidy');
      t.calledSubagent('helper');
      t.noFailedActions();
      t.event('thinking');
      t.eventOrder(['thinking', 'subagent.called', 'message']);
      t.eventsSatisfy('one result per call', (events) => events.length > 5);
      turn.check(turn.reply, includes('page 7'));
      turn.succeeded();
    },
  }),
  waiting: defineEval<typeof inProcess>({
    async test(t) {
      const turn = await t.send('ask me');
      t.event('input.requested');
      t.check(turn.status === 'waiting', isTrue());
    },
  }),
};
