import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sealFolders } from './seal.ts';

/** The clock of change times advances every 10 ms, or more often. */
const nextTick = () => setTimeout(30);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seal-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// So few that this process looks at them alone; so many that another one does first; and too many for that one.
describe.for([3, 100, 2500])('folders with %i files', (files) => {
  const file = (index: number): string => join(folder, 'inner', `file ${index}`);

  test('are unbroken until one is changed, whatever time the change gives it', async () => {
    mkdirSync(join(folder, 'inner'));
    for (let index = 0; index < files; index += 1) writeFileSync(file(index), 'old');
    const seal = await sealFolders([folder]);
    expect(await seal.broken()).toBeUndefined();
    const { atime, mtime } = statSync(file(2));
    await nextTick();
    writeFileSync(file(2), 'new');
    utimesSync(file(2), atime, mtime);
    expect(await seal.broken()).toBe(file(2));
    const again = await sealFolders([folder]);
    expect(await again.broken()).toBeUndefined();
    await nextTick();
    rmSync(file(1));
    expect(await again.broken()).toBe(join(folder, 'inner'));
    rmSync(folder, { recursive: true });
    expect(await again.broken()).toBe(`${folder}, which is gone`);
  });
});
