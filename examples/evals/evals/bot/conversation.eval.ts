import { defineEval, includes } from 'whetstone';

export default defineEval({
  requires: { conversation: true, toolObservability: true },
  async test(t) {
    const first = await t.send('Where is my order?');
    await first.check(first.reply, includes('Which order')).orStop();
    first.usedNoTools();
    const second = await t.send('18');
    second.calledTool('get_order');
    t.within(2).turns;
    const other = t.newSession();
    await other.send('Where is order 17?');
    other.maxToolCalls(1);
  },
});
