import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../workspace/__fixtures__/test-repo.ts';
import { describeFile } from './load-evals.ts';

test.each<[string, string, object]>([
  [
    'a misspelt key',
    'timeoutMS: 5, test() {}',
    { message: expect.stringContaining('did you mean "timeoutMs"?') },
  ],
  [
    'a key of another type',
    "\n  tags: 'slow', test() {}",
    { message: 'defineEval(): tags takes a list of texts, and got "slow"', line: 2, column: 3 },
  ],
  ['a time of no length', 'timeoutMs: 0, test() {}', { line: 1, column: 18 }],
  [
    'a capability that does not exist',
    'requires: { tools: true }, test() {}',
    { message: expect.stringContaining('"tools" is not one of its keys') },
  ],
])('an eval with %s is not loaded', async (_, keys, problem) => {
  const folder = makeTempDir();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'own.eval.mjs');
  writeFileSync(file, `export default { ${keys} };\n`);
  const found = await describeFile({ file, id: 'own' });
  expect(found).toMatchObject({ evals: [], problem: { file, ...problem } });
});
