import { defineEval, includes } from 'whetstone';

export default defineEval({
  description: 'Repairs a function',
  fixture: './sum',
  requires: { workspace: true, toolObservability: true },
  async test(t) {
    await t.send('The function in sum.mjs is wrong. Repair it.');
    t.fileChanged('sum.mjs', { after: includes('a + b') });
    t.sandbox.diff.changedOnly(['sum.mjs']);
    t.ran(/node --test/).label('ran the tests');
    t.never.edited('EVAL.mjs');
    t.testsPassed();
  },
});
