import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { strategies } from './__fixtures__/strategies.ts';
import { makeRepo, makeTempDir, readTree, runGit } from './__fixtures__/test-repo.ts';
import { createWorkspaces } from './create-workspaces.ts';
import type { Workspace } from './workspace.ts';

const isThere = strategies.some(({ strategy, missing }) => strategy === 'mount' && !missing);
/** As many as are lent by default. */
const MANY = 2000;
/** As many as are lent where a test says so: it needs no time to make more. */
const ENOUGH = 100;
const LONG_AGO = new Date('2020-01-01T00:00:00Z');

describe.skipIf(!isThere)('folders that are lent to the clean room', { tags: 'mounts' }, () => {
  let folders: string[];
  let cleaning: AsyncDisposableStack;
  let agent: Workspace;
  let makeRoom: () => Promise<Workspace>;

  beforeEach(() => open(ENOUGH));
  afterEach(() => close());

  async function open(leastLent?: number): Promise<void> {
    const repo = makeRepo({ 'README.md': 'one\n', 'src/kept.js': 'kept\n', 'old/file': 'old\n' });
    const scratch = makeTempDir();
    folders = [repo, scratch];
    cleaning = new AsyncDisposableStack();
    const workspaces = cleaning.use(
      await createWorkspaces({ repo, scratch, strategy: 'mount', ...present({ leastLent }) }),
    );
    const commit = runGit(repo, ['rev-parse', 'HEAD']).trim();
    const snapshot = await workspaces.prepare(commit, []);
    makeRoom = async () => cleaning.use(await workspaces.create(snapshot));
    agent = await makeRoom();
  }

  async function close(): Promise<void> {
    await cleaning.disposeAsync();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }

  function fill(folder: string, count = ENOUGH): void {
    for (let file = 0; file < count; file += 1) {
      const path = join(agent.path, folder, String(file % 10), String(file));
      if (file < 10) mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, `${file}\n`);
      utimesSync(path, LONG_AGO, LONG_AGO);
    }
  }

  const isLent = (room: Workspace, file: string): boolean =>
    statSync(join(room.path, file)).mtimeMs === LONG_AGO.getTime();

  const withoutGit = ({ path }: Workspace) => {
    const { '.git': _, ...tree } = readTree(path);
    return tree;
  };

  test('are the same for the agent, for the room, and for each other room', async () => {
    fill('many');
    fill('src/more');
    symlinkSync('0/0', join(agent.path, 'many/link'));
    chmodSync(join(agent.path, 'many/1/1'), 0o755);
    writeFileSync(join(agent.path, 'README.md'), 'two\n');
    rmSync(join(agent.path, 'old'), { recursive: true });
    const before = withoutGit(agent);
    const changes = await agent.changes({ lends: true });
    const [room, second] = [await makeRoom(), await makeRoom()];
    for (const one of [room, second]) {
      await one.apply(changes);
      expect([isLent(one, 'many/1/1'), isLent(one, 'src/more/2/2')]).toEqual([true, true]);
      expect(withoutGit(one)).toEqual(before);
    }
    expect(withoutGit(agent)).toEqual(before);
    expect((await agent.changes()).files).toEqual(changes.files);

    writeFileSync(join(room.path, 'many/3/3'), 'changed\n');
    rmSync(join(room.path, 'src/more'), { recursive: true });
    expect(readFileSync(join(second.path, 'many/3/3'), 'utf8')).toBe('3\n');
    expect([withoutGit(agent), withoutGit(second)]).toEqual([before, before]);
    const restored = await room.restore((path) => path.startsWith('many/'));
    expect(restored).toHaveLength(ENOUGH + 1);
    expect(existsSync(join(room.path, 'many'))).toBe(false);
    expect(readdirSync(join(room.path, 'src'))).toEqual(['kept.js']);
  });

  test('have nothing that a room does not keep', async () => {
    fill('many');
    fill('other');
    const changes = await agent.changes({ lends: true });
    const room = await makeRoom();
    await room.apply(changes, (path) => path !== 'other/5/5');
    expect([isLent(room, 'many/5/5'), isLent(room, 'other/4/4')]).toEqual([true, false]);
    expect(existsSync(join(room.path, 'other/5/5'))).toBe(false);
    const stricter = await makeRoom();
    await stricter.apply(changes, (path) => path !== 'many/5/5');
    expect(existsSync(join(stricter.path, 'many/5/5'))).toBe(false);
    expect(readFileSync(join(stricter.path, 'other/5/5'), 'utf8')).toBe('5\n');
  });

  test.each<[string, (tree: string) => void]>([
    ['has rights that no new file has', (tree) => chmodSync(join(tree, 'many/1/1'), 0o4755)],
    ['cannot be written by its owner', (tree) => chmodSync(join(tree, 'many/1/1'), 0o444)],
    ['is in a folder that all may write', (tree) => chmodSync(join(tree, 'many/1'), 0o777)],
    ['has two names', (tree) => linkSync(join(tree, 'many/1/1'), join(tree, 'many/twin'))],
    ['is beside an empty folder', (tree) => mkdirSync(join(tree, 'many/empty'))],
    ['is beside a pipe', (tree) => execFileSync('mkfifo', [join(tree, 'many/pipe')])],
    ['is beside a folder .git', (tree) => mkdirSync(join(tree, 'many/.git'))],
  ])('do not have a file that %s: it is copied', async (_, spoil) => {
    fill('many');
    spoil(agent.path);
    const room = await makeRoom();
    await room.apply(await agent.changes({ lends: true }));
    expect(isLent(room, 'many/1/1')).toBe(false);
    const { mode, nlink } = statSync(join(room.path, 'many/1/1'));
    expect({ mode: mode & 0o7022, nlink }).toEqual({ mode: 0, nlink: 1 });
    expect(['empty', 'pipe', '.git'].some((name) => existsSync(join(room.path, 'many', name)))).toBe(false);
    expect(readFileSync(join(room.path, 'many/1/1'), 'utf8')).toBe('1\n');
  });

  test('are not in a folder that the agent put in the place of another one', async () => {
    rmSync(join(agent.path, 'old'), { recursive: true });
    fill('old/many');
    const before = withoutGit(agent);
    const room = await makeRoom();
    await room.apply(await agent.changes({ lends: true }));
    expect(isLent(room, 'old/many/1/1')).toBe(false);
    expect([withoutGit(agent), withoutGit(room)]).toEqual([before, before]);
  });

  test('are not those of a tree that something still uses', async () => {
    fill('many');
    const changes = await agent.changes({ lends: true });
    const survivor = spawn('sleep', ['60'], { cwd: join(agent.path, 'many'), stdio: 'ignore' });
    await once(survivor, 'spawn');
    const room = await makeRoom();
    await room.apply(changes);
    expect(isLent(room, 'many/1/1')).toBe(false);
    survivor.kill();
    await once(survivor, 'exit');
  });

  test('are not those with a file that was changed after it was read', async () => {
    fill('many');
    const changes = await agent.changes({ lends: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
    writeFileSync(join(agent.path, 'many/1/1'), 'late\n');
    const room = await makeRoom();
    await expect(room.apply(changes)).rejects.toThrow('a file changed after it was read');
  });

  test.each([
    [MANY, true],
    [MANY - 1, false],
  ])('are lent from 2,000 files on (%i: %s)', async (count, lent) => {
    await close();
    await open();
    fill('some', count);
    const room = await makeRoom();
    await room.apply(await agent.changes({ lends: true }));
    expect(isLent(room, 'some/1/1')).toBe(lent);
  });

  test('are not those of few files', async () => {
    fill('few', ENOUGH - 1);
    const room = await makeRoom();
    await room.apply(await agent.changes({ lends: true }));
    expect(isLent(room, 'few/1/1')).toBe(false);
  });
});
