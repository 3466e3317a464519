import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { folderState } from '../workspace/folder-state.ts';
import { restoreEnvironments, saveEnvironments } from './environment-archive.ts';
import { isIntact, layerStore } from './layer-store.ts';

const KEY = 'ab'.repeat(32);
let folder: string;
const before = process.env.XDG_CACHE_HOME;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'environment-archive-'));
});
afterEach(() => {
  if (before === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = before;
  rmSync(folder, { recursive: true, force: true });
});

const onMachine = (name: string) => {
  process.env.XDG_CACHE_HOME = join(folder, name);
  return layerStore();
};

async function makeLayer(): Promise<void> {
  const store = onMachine('one');
  const directory = await store.begin(KEY);
  for (const part of ['repo/node_modules/.bin', 'home'])
    mkdirSync(join(directory, part), { recursive: true });
  writeFileSync(join(directory, 'repo/node_modules/tool.js'), 'tool', { mode: 0o755 });
  symlinkSync('../tool.js', join(directory, 'repo/node_modules/.bin/tool'));
  utimesSync(join(directory, 'repo/node_modules/tool.js'), 1000.25, 1000.25);
  const {
    sha256: state,
    bytes,
    files,
  } = await folderState([join(directory, 'repo'), join(directory, 'home')]);
  store.publish(directory, {
    ...{
      key: KEY,
      state,
      bytes,
      files,
      prepared_at: '2026-01-02T03:04:05.000Z',
      seconds: 1,
      commands: ['npm ci'],
    },
    ...{ at: null, project: 'tea', restored_inputs: [], dropped: [] },
  });
}

test('an environment that another machine saved is whole there, with its times, modes and links', async () => {
  await makeLayer();
  const archive = join(folder, 'deep/environments.tar');
  expect((await saveEnvironments(archive)).map(({ key }) => key)).toEqual([KEY]);
  const store = onMachine('two');
  expect((await restoreEnvironments(archive)).map(({ key }) => key)).toEqual([KEY]);
  const layer = store.read(KEY) ?? expect.fail('no layer');
  expect(await isIntact(layer)).toBe(true);
  const stat = statSync(join(layer.tree, 'node_modules/.bin/tool'));
  expect([stat.mtimeMs, stat.mode & 0o777]).toEqual([1000_250, 0o755]);
  expect(layer.facts).toMatchObject({ project: 'tea', commands: ['npm ci'] });
  // What is here stays, and nothing is left of the extraction.
  expect(await restoreEnvironments(archive)).toEqual([]);
  expect(existsSync(join(store.root, 'tmp'))).toBe(false);
});

test('no environment makes an empty archive, and what is not an archive is an error', async () => {
  onMachine('none');
  const archive = join(folder, 'empty.tar');
  expect(await saveEnvironments(archive)).toEqual([]);
  expect(await restoreEnvironments(archive)).toEqual([]);
  writeFileSync(archive, 'no archive at all');
  await expect(restoreEnvironments(archive)).rejects.toMatchObject({
    code: 'environment-archive-unreadable',
    message: expect.stringContaining('This does not look like a tar archive'),
  });
  await expect(restoreEnvironments(join(folder, 'missing'))).rejects.toMatchObject({
    code: 'environment-archive-unreadable',
  });
  await expect(saveEnvironments(join(archive, 'below'))).rejects.toMatchObject({ code: 'output-unwritable' });
  expect(readFileSync(archive, 'utf8')).toBe('no archive at all');
});
