import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

const run = promisify(execFile);
const SOURCE = join(import.meta.dirname, '..');
const ROOT = join(SOURCE, '../../..');
const RECIPE = join(import.meta.dirname, '__fixtures__/recipe');

let copy: string;
beforeEach(async () => {
  // Below the repository, so that the copy finds the same packages and settings.
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  copy = await mkdtemp(join(ROOT, '.cache/recipe-'));
  const isSource = (path: string) => !/__fixtures__|\.test\.ts$/.test(path);
  await cp(SOURCE, join(copy, 'src'), { recursive: true, filter: isSource });
});
afterEach(() => rm(copy, { recursive: true }));

test('a new agent made of one folder and one line type-checks and runs', async () => {
  const folder = join(copy, 'src/native/invented');
  await mkdir(folder);
  for (const file of ['facts.ts', 'launch.ts', 'stream.ts', 'invented.ts'])
    await cp(join(RECIPE, file), join(folder, file));
  await cp(join(RECIPE, 'program.ts'), join(copy, 'src/program.ts'));
  const table = join(copy, 'src/native/native-agents.ts');
  const text = await readFile(table, 'utf8');
  const withLine = text
    .replace('import { pi }', "import { invented } from './invented/invented.ts';\nimport { pi }")
    .replace('  pi,\n', '  pi,\n  invented,\n');
  await writeFile(table, withLine);
  await writeFile(
    join(copy, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), include: ['src'] }),
  );

  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const checked = await run(process.execPath, [tsc, '--noEmit', '--singleThreaded', '-p', copy]).catch(
    (error) => error,
  );
  expect(checked.stdout).toBe('');

  const programs = join(copy, 'programs');
  await mkdir(programs);
  const script =
    '#!/bin/sh\nread -r said; printf \'{"say":"%s %s"}\\n{"end":"session-1"}\\n\' "$3" "$said"\n';
  await writeFile(join(programs, 'invented'), script, { mode: 0o755 });
  const { stdout } = await run(process.execPath, [join(copy, 'src/program.ts')], {
    env: { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH}` },
  });
  expect(JSON.parse(stdout)).toEqual({
    status: 'completed',
    texts: ['invented-1 hello'],
    session: 'session-1',
    skills: '.invented/skills',
  });
});
