import { commandMatch, defineEval, isTrue, pattern } from 'whetstone';

export default defineEval({
  description: 'Explains without changing anything',
  fixture: './sum',
  requires: { workspace: true, toolObservability: true },
  async test(t) {
    const turn = await t.send('Explain what is wrong in the code. Change nothing.');
    turn.check(turn.reply, pattern(/subtract/i));
    t.ran(commandMatch('cat', { argsStart: ['sum.mjs'] }));
    t.check(t.sandbox.diff.isEmpty(), isTrue('nothing changed'));
    t.never.edited();
  },
});
