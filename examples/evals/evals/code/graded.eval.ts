import { defineEval, includes, lastEdit } from 'whetstone';

export default defineEval({
  description: 'Grades how the work was done',
  fixture: './sum',
  requires: { workspace: true, toolObservability: true },
  async test(t) {
    await t.send('The function in sum.mjs is wrong. Repair it.');
    t.fileChanged('sum.mjs', { after: includes('a + b') }).score(2);
    t.after(lastEdit)
      .ran(/node --test/)
      .soft()
      .score(1);
    t.maxToolCalls(2).soft().score(1).label('is quick');
  },
});
