import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { afterAll, expect, test } from 'vitest';
import { makeEvals, removeEvals } from './__fixtures__/eval-project.ts';
import { evalFile, experiment } from './__fixtures__/greeter.ts';

afterAll(removeEvals);

const BIN = join(import.meta.dirname, '../../bin/whetstone.js');

/** `exp --watch` in a folder. `until` resolves with what was printed since the last call, up to these words. */
function startWatch(root: string) {
  const temporary = join(root, 'tmp');
  const { NODE_COMPILE_CACHE, PATH } = process.env;
  const child = spawn(process.execPath, [BIN, 'exp', '--watch'], {
    cwd: root,
    env: { ...present({ NODE_COMPILE_CACHE }), PATH, HOME: root, TMPDIR: temporary, LANG: 'C.UTF-8' },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      child.emit('printed');
    });
  }
  return {
    child,
    temporary,
    async until(words: string): Promise<string> {
      while (!printed.includes(words)) {
        if (child.exitCode !== null) throw new Error(`The watch has ended: ${printed}`);
        await once(child, 'printed');
      }
      const text = printed;
      printed = printed.slice(printed.indexOf(words) + words.length);
      return text;
    },
  };
}

const WAITING = 'Waiting for a change';

test('a watch runs what a change touches, also one outside of the project, and Ctrl-C leaves nothing behind', async () => {
  const outer = makeEvals({
    'shared/word.ts': "export const word = 'sing';\n",
    'project/experiments/base.ts': experiment(),
    'project/evals/good.eval.ts': evalFile("    await t.send('Ada');\n    t.calledTool('greet');"),
    'project/evals/bad.eval.ts': `import { word } from '../../shared/word.ts';\n${evalFile("    await t.send('Ada');\n    t.calledTool(word);")}`,
    'project/tmp/.keep': '',
  });
  const root = join(outer.root, 'project');
  const runs = () =>
    readdirSync(join(root, '.whetstone/runs'))
      .filter((name) => /^\d/.test(name))
      .sort();
  const rows = (run: string | undefined): Record<string, string> =>
    Object.fromEntries(
      readFileSync(join(root, '.whetstone/runs', run ?? '', 'results.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map((row) => [row.task_id, `${row.outcome}${row.reused_from ? ', reused' : ''}`]),
    );
  const watch = startWatch(root);
  await watch.until(WAITING);
  expect(rows(runs().at(-1))).toEqual({ good: 'passed', bad: 'failed' });

  outer.write({ 'shared/word.ts': "export const word = 'greet';\n" });
  await watch.until(WAITING);
  expect(rows(runs().at(-1))).toEqual({ good: 'passed, reused', bad: 'passed' });

  outer.write({ 'project/notes/plan.txt': 'Nothing depends on this.\n' });
  expect(await watch.until(WAITING)).toContain('Nothing to run');
  expect(runs()).toHaveLength(2);

  outer.write({ 'project/evals/bad.eval.ts': 'export default {' });
  expect(await watch.until(WAITING)).toContain('bad.eval.ts');

  outer.write({ 'project/evals/bad.eval.ts': evalFile("    await t.send('hang');") });
  await watch.until('2 cases, 1 of them reused');
  watch.child.kill('SIGINT');
  expect(await once(watch.child, 'close')).toEqual([130, null]);
  expect(readdirSync(watch.temporary)).toEqual(['.keep']);
});
