// Reference: what the capability `workspace` enables.
import { defineEval, includes } from 'whetstone';
import type inSandbox from '../agents/in-sandbox.ts';

export default defineEval<typeof inSandbox>({
  fixture: './start',
  async test(t) {
    await t.send('Write the button.');
    t.fileChanged('button.mjs', { after: includes('Save') });
    t.fileDeleted('old.txt');
    t.sandbox.diff.changedOnly(['button.mjs', 'old.txt']);
    t.calledTool('Bash', { count: 1 });
    t.testsPassed();
    t.scriptPassed('check');
  },
});
