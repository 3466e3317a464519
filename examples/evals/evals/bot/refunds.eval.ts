import { defineEval } from 'whetstone';
import type supportBot from '../../agents/support-bot.js';

const refundOf = (id: string, isPaid: boolean) =>
  defineEval<typeof supportBot>({
    async test(t) {
      await t.send(`I want a refund for order ${id}.`);
      t.noFailedActions();
      if (isPaid) t.toolOrder(['get_order', 'refund']);
      else t.notCalledTool('refund').label('pays nothing for an order that is not lost');
    },
  });

export default { lost: refundOf('18', true), shipped: refundOf('17', false) };
