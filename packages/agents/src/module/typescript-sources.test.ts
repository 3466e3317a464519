import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { loadTypescriptSources } from './typescript-sources.ts';

test('a TypeScript file with imports loads in a package that npm init made CommonJS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'typescript-sources-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = {
    'package.json': '{ "type": "commonjs" }',
    'main.ts':
      "import { one } from './one.js';\nimport two from './two.ts';\nexport default one + two.two;\n",
    'one.ts': 'const one: number = 1;\nexport { one };\n',
    'two.ts':
      "// Says import, but is none:\nmodule.exports = { two: require('node:path').sep.length as number };\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  loadTypescriptSources();
  expect(await import(pathToFileURL(join(folder, 'main.ts')).href)).toMatchObject({ default: 2 });
});
