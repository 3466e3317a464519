import { execFile } from 'node:child_process';
import { readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeRepo, makeTempDir, writeTree } from './workspace/__fixtures__/test-repo.ts';

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

const examples = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map((match) => match[1] ?? '');

test('the example of the README runs as it stands', async () => {
  const folder = makeTempDir();
  try {
    const [program = ''] = examples('ts');
    const [config = '', tasks = ''] = examples('yaml');
    writeTree(folder, { 'whetstone.yaml': config, 'tasks.yaml': tasks, 'run.ts': program });
    renameSync(makeRepo({ 'README.md': 'A project.\n' }), join(folder, 'project'));
    symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'));
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', 'run.ts'], {
      cwd: folder,
    });
    expect(stdout).toMatch(/^with-rules against baseline: inconclusive: /);
    expect(stdout).toMatch(/^greet baseline failed .*exit/m);
    expect(stdout).toMatch(/^greet with-rules passed null$/m);
    expect(stdout).toContain(join(folder, '.whetstone/runs'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
