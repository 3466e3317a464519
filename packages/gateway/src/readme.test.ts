import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parseYamlScript } from './script/yaml.ts';

const packageRoot = join(import.meta.dirname, '..');

async function examples(language: string): Promise<string[]> {
  const readme = await readFile(join(packageRoot, 'README.md'), 'utf8');
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(
    (match) => match[1] ?? '',
  );
}

test('the first example of the README runs as it is', async () => {
  const [example = ''] = await examples('ts');
  const node = ['--input-type=module-typescript', '--eval', example];
  const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: packageRoot });
  expect(stdout).toContain("input: { path: 'hello.txt', content: 'hello\\n' }");
  expect(stdout).toMatch(/inputTokens: \d+/);
});

test('the YAML example of the README is a script', async () => {
  const [example = ''] = await examples('yaml');
  expect(parseYamlScript(example, 'README.md').name).toBe('careful-or-not');
});
