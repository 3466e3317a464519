import { defineEval, equals } from 'whetstone';

export default defineEval({
  async test(t) {
    const { reply, usage } = await t.send('Who are you?');
    t.check(reply, equals('A script.'));
    t.check((usage?.outputTokens ?? 0) > 0, equals(true));
  },
});
