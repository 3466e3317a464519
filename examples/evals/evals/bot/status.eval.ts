import { defineEval, includes } from 'whetstone';
import type supportBot from '../../agents/support-bot.js';

export default defineEval<typeof supportBot>({
  description: 'Looks up the order that it is asked about',
  tags: ['quick'],
  async test(t) {
    const turn = await t.send('Where is order 17?');
    t.calledTool('get_order', { input: { id: '17' }, count: 1 });
    t.notCalledTool('refund');
    turn.outputEquals({ id: '17', status: 'shipped' });
    turn.check(turn.reply, includes('shipped'));
  },
});
