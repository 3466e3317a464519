import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashModule } from './hash-module.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'module-closure-'));
  mkdirSync(join(folder, 'a/lib'), { recursive: true });
  write(
    'agent.ts',
    "import { x } from './lib/x.js';\nimport 'whetstone';\nconst y = () => import(\"./lib/y.ts\");\n",
  );
  write('lib/x.ts', "export * from '../lib/z.ts';\n// see from './not-there.ts'\n");
  write('lib/y.ts', "import '../agent.ts';\n");
  write('lib/z.ts', 'export const x = 1;\n');
  write('lib/other.ts', '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, 'a', name), text);
const hash = () => hashModule(join(folder, 'a/agent.ts'));

test.each(['agent.ts', 'lib/x.ts', 'lib/y.ts', 'lib/z.ts'])(
  'a change of %s changes the hash',
  async (name) => {
    const before = await hash();
    write(name, '// changed');
    expect(await hash()).not.toBe(before);
  },
);

test('files that are not imported do not count, and neither does the place', async () => {
  const before = await hash();
  write('lib/other.ts', '// changed');
  expect(await hash()).toBe(before);
  cpSync(join(folder, 'a'), join(folder, 'b'), { recursive: true });
  expect(await hashModule(join(folder, 'b/agent.ts'))).toBe(before);
});
