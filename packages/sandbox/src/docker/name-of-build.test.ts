import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nameOfBuild } from './name-of-build.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'name-of-build-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the same content has the same name anywhere, and any change has another one', () => {
  const context = join(folder, 'context');
  mkdirSync(join(context, 'tools'), { recursive: true });
  writeFileSync(join(context, 'Dockerfile'), 'FROM node:24\n');
  writeFileSync(join(context, 'tools/run'), 'echo\n', { mode: 0o644 });
  const names = [nameOfBuild({ context, dockerfile: 'Dockerfile' })];
  cpSync(context, join(folder, 'copy'), { recursive: true });
  expect(nameOfBuild({ context: join(folder, 'copy'), dockerfile: 'Dockerfile' })).toBe(names[0]);
  expect(names[0]).toMatch(/^whetstone-build:[0-9a-f]{32}$/);
  const changes = [
    () => writeFileSync(join(context, 'tools/run'), 'echo 2\n'),
    () => chmodSync(join(context, 'tools/run'), 0o755),
    () => renameSync(join(context, 'tools/run'), join(context, 'tools/start')),
    () => symlinkSync('start', join(context, 'tools/run')),
    () => mkdirSync(join(context, 'empty')),
    () => writeFileSync(join(context, 'tools/a'), ''),
  ];
  for (const change of changes) {
    change();
    names.push(nameOfBuild({ context, dockerfile: 'Dockerfile' }));
  }
  names.push(nameOfBuild({ context, dockerfile: 'tools/start' }));
  expect(new Set(names).size).toBe(names.length);
});
