import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repositoryPlugins } from './repository-plugins.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'plugins-'));
  mkdirSync(join(root, 'repository/.git'), { recursive: true });
  mkdirSync(join(root, 'repository/package'));
});
afterEach(() => rmSync(root, { recursive: true }));

test.each([
  ['.opencode/plugin/a.ts', '', true],
  ['.opencode/plugins/a.js', '', true],
  ['.opencode/tool/a.ts', '', true],
  ['opencode.json', '{"plugin":["a"]}', true],
  ['.opencode/opencode.jsonc', '// x\n{"\\u0070lugin":["a"]}', true],
  ['opencode.json', '{"agent":{}}', false],
  ['.opencode/agent/a.md', '', false],
  ['../.opencode/plugin/a.ts', '', false],
])('%s %s: %s', (name, text, isFound) => {
  const file = join(root, 'repository', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  expect(repositoryPlugins(join(root, 'repository/package'))).toEqual(isFound ? [file] : []);
});
