import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const README = join(import.meta.dirname, '../README.md');
const CODEX = join(import.meta.dirname, 'native/codex-cli/__fixtures__/codex-0.169.0');
const readme = await readFile(README, 'utf8');
const programs = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, program = '']) => program);

/** The program of the README with this text in it, and what it prints. */
const printed: readonly [string, RegExp][] = [
  ["prompt: 'Fix the failing test.'", /^session\.started\n(.+\n)+completed 99\n$/],
  ['session.send(', /^completed 01a20115-\S+\n$/],
  ['createGateway', /^completed 0\n$/],
  ['defineSandboxAgent', /^completed \{.*text: '\s*\d+ README\.md\\n'.*\}\n$/s],
];

describe('the programs of the README', () => {
  // Below the repository, so that the programs find the packages.
  let folder: string;
  beforeAll(async () => {
    await mkdir(join(ROOT, '.cache'), { recursive: true });
    folder = await mkdtemp(join(ROOT, '.cache/readme-'));
    await cp(README, join(folder, 'README.md'));
    const codex = `#!/bin/sh\ncat > prompt.txt\ncat '${join(CODEX, 'main.stream.jsonl')}'\n`;
    await writeFile(join(folder, 'codex'), codex, { mode: 0o755 });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.concurrent.each(printed)('%s runs as it stands', async (text, output) => {
    const program = programs.find((one) => one.includes(text)) ?? '';
    const file = join(folder, `${printed.findIndex(([name]) => name === text)}.ts`);
    await writeFile(file, program);
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      cwd: folder,
      env: {
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        PATH: `${folder}${delimiter}${process.env.PATH}`,
        HOME: folder,
        OPENAI_API_KEY: 'test-key',
      },
    });
    expect(stdout).toMatch(output);
  });

  // They run in `examples/agents/agents.test.ts`.
  test.each(['drive.ts', 'transcripts.ts'])('%s is the example of that name', async (name) => {
    expect(programs).toContain(await readFile(join(ROOT, 'examples/agents', name), 'utf8'));
  });

  test('each has a test', () => {
    expect(programs).toHaveLength(printed.length + 2);
  });
});
