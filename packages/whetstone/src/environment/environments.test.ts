import {
  existsSync,
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
import { describe, expect, test, vi } from 'vitest';
import { strategies } from '../workspace/__fixtures__/strategies.ts';
import { commitAll, makeTempDir } from '../workspace/__fixtures__/test-repo.ts';
import { openLab } from './__fixtures__/environment-lab.ts';
import { dropUnshareable, refuseReplaced } from './clean-layer.ts';

const [mount] = strategies;
const strategy = mount?.missing ? 'copy' : 'mount';
const layersOf = (root: string) => readdirSync(root).filter((name) => name !== 'locks');

describe.each(strategies)('environments over $strategy', { tags: 'mounts' }, ({ strategy, missing }) => {
  test.skipIf(missing)(
    'what is newer than what it was made from stays so, and what the preparation has not seen is newer than that',
    async () => {
      await using lab = await openLab(
        { 'lib.c': 'lib\n', 'src/main.c': 'main\n', 'dist/kept': 'tracked\n', 'other.c': 'x\n' },
        strategy,
      );
      await using environments = await lab.open({
        prepare: [
          'sleep 0.02; cp lib.c lib.o; mkdir -p src/build dist; touch src/build/all dist/kept dist/made',
        ],
        inputs: ['lib.c'],
      });
      const snapshot = await environments.equip(await lab.snapshot());
      await using workspace = await lab.workspaces.create(snapshot);
      const newer = (a: string, b: string) => `test ${a} -nt ${b} && echo ${a} is newer than ${b}`;
      // A stale object would be taken for up to date, and an untouched one would be built again.
      const pairs = [
        newer('lib.o', 'lib.c'),
        newer('src/main.c', 'src/build/all'),
        newer('other.c', 'lib.o'),
      ];
      expect(
        (await lab.run(workspace, `${pairs.join('; ')}; cat dist/kept; git status --porcelain`)).split('\n'),
      ).toEqual([
        'lib.o is newer than lib.c',
        'src/main.c is newer than src/build/all',
        'other.c is newer than lib.o',
        // What the tree has counts.
        'tracked',
        '',
      ]);
      // The agent's edit is newer than the object that was made from the old text.
      expect(
        await lab.run(
          workspace,
          `echo new > lib.c; ${newer('lib.c', 'lib.o')}; rm -r src/build; echo > dist/made`,
        ),
      ).toBe('lib.c is newer than lib.o\n');
      const changes = await workspace.changes();
      expect(changes.files.map(({ path }) => path)).toEqual(['lib.c']);
      expect(changes.environment).toEqual(strategy === 'mount' ? ['dist/made', 'src/build'] : null);
      // The next one has nothing of it.
      await using next = await lab.workspaces.create(snapshot);
      expect(await lab.run(next, 'cat lib.c; ls src/build')).toBe('lib\nall\n');
      await next.apply(changes);
      expect(await lab.run(next, 'cat lib.c; ls src/build')).toBe('new\nall\n');
      const copies = lab.events.filter(({ type }) => type === 'environment.copied');
      expect(copies).toHaveLength(strategy === 'mount' ? 0 : 1);
    },
  );
});

test('prepare can be shared by commits with the same inputs, and each state of them has its own', async () => {
  await using lab = await openLab({ 'package.json': '{}', 'src/a': 'a' }, strategy);
  const prepare = ['cat package.json > made'];
  const first = await lab.snapshot();
  commitAll(lab.repo, { 'src/a': 'b' });
  const same = await lab.snapshot();
  commitAll(lab.repo, { 'package.json': '{"a":1}' });
  const other = await lab.snapshot();
  const keys: (string | undefined)[] = [];
  {
    await using environments = await lab.open({ prepare });
    await using differently = await lab.open({ prepare: [...prepare, 'true'] });
    for (const snapshot of [first, same, other])
      keys.push((await environments.equip(snapshot)).environment?.key);
    keys.push((await differently.equip(other)).environment?.key);
    await using workspace = await lab.workspaces.create(await environments.equip(other));
    expect(readFileSync(join(workspace.path, 'made'), 'utf8')).toBe('{"a":1}');
  }
  expect(keys[0]).toBe(keys[1]);
  expect(new Set(keys).size).toBe(3);
  expect(
    lab.store
      .list()
      .map(({ facts }) => facts.key)
      .sort(),
  ).toEqual([...new Set(keys)].sort());
});

test('a failed preparation is tried once, leaves nothing, and gives everyone the same error', async () => {
  await using lab = await openLab({ 'package.json': '{}' }, strategy);
  await using environments = await lab.open({
    prepare: ['echo x >> ~/count; echo no such package >&2; exit 3'],
    inputs: ['package.json'],
  });
  const snapshot = await lab.snapshot();
  const errors = await Promise.all(
    [1, 2].map(() => environments.equip(snapshot).catch((error: unknown) => error)),
  );
  expect(errors[0]).toMatchObject({ code: 'environment-prepare-failed', class: 'task' });
  expect(String(errors[0])).toMatch(/\nlogs\/\w+\/prepare-0\.stderr\.log ends with:\nno such package/);
  expect(errors[1]).toBe(errors[0]);
  expect(lab.events.map(({ type }) => type)).toEqual(['environment.preparing']);
  expect(layersOf(lab.store.root)).toEqual([]);
});

test('an interrupted preparation leaves nothing, and its files are removed by the next one', async () => {
  await using lab = await openLab({ 'package.json': '{}' }, strategy);
  await using environments = await lab.open({ prepare: ['touch begun; sleep 600'] });
  const equipping = environments.equip(await lab.snapshot());
  await expect.poll(() => lab.events.length).toBe(1);
  lab.abort.abort();
  await expect(equipping).rejects.toThrow();
  expect(layersOf(lab.store.root)).toEqual([]);
  // As after `kill -9`.
  const key = 'f'.repeat(64);
  await lab.store.begin(key);
  await lab.store.begin('e'.repeat(64));
  // Of another version, unused and used.
  for (const letter of 'cd') mkdirSync(join(lab.store.root, letter.repeat(64)));
  using _making = lab.store.lease('e'.repeat(64), 'exclusive');
  using _using = lab.store.lease('d'.repeat(64), 'shared');
  await lab.store.sweep();
  expect(layersOf(lab.store.root).sort()).toEqual(['d'.repeat(64), `tmp-${'e'.repeat(64)}`]);
});

test('two that need the same environment share one preparation', async () => {
  await using lab = await openLab({ 'package.json': '{}' }, strategy);
  // It ends only when the other one waits for it.
  const go = join(lab.store.root, '../go');
  const prepare = [`touch made; until test -e '${go}'; do sleep 0.02; done`];
  await using one = await lab.open({ prepare });
  await using other = await lab.open({ prepare });
  const snapshot = await lab.snapshot();
  const types = () => lab.events.map(({ type }) => type);
  const both = Promise.all([one.equip(snapshot), other.equip(snapshot)]);
  await expect.poll(types).toContain('environment.waiting');
  writeFileSync(go, '');
  await both;
  expect(
    types()
      .filter((type) => !type.endsWith('copied'))
      .sort(),
  ).toEqual(['environment.preparing', 'environment.ready', 'environment.ready', 'environment.waiting']);
});

test('an environment in use is not removed, also not for its size; the oldest goes first', async () => {
  await using lab = await openLab({ 'package.json': '{}' }, strategy);
  const snapshot = await lab.snapshot();
  const keys: string[] = [];
  const environments = await lab.open({ prepare: ['touch used'] });
  for (const number of [1, 2]) {
    await using unused = await lab.open({ prepare: [`touch unused; : ${number}`] });
    keys.push((await unused.equip(snapshot)).environment?.key ?? '');
  }
  const [first = '', second = ''] = keys;
  utimesSync(join(lab.store.root, second, 'layer.json'), 0, 0);
  const { environment } = await environments.equip(snapshot);
  const key = environment?.key ?? '';
  const sizes = lab.store.list().map(({ facts }) => facts.bytes);
  await lab.store.shrink(sizes.reduce((sum, size) => sum + size, 0) - 1);
  expect(layersOf(lab.store.root).sort()).toEqual([first, key].sort());
  await lab.store.shrink(0);
  expect(layersOf(lab.store.root)).toEqual([key]);
  expect(await lab.store.remove(key)).toBe(false);
  await environments[Symbol.asyncDispose]();
  expect(await lab.store.remove(key)).toBe(true);
  expect(layersOf(lab.store.root)).toEqual([]);
});

test('a layer that something has changed is not used, and one that changes while it is used is reported', async () => {
  await using lab = await openLab({ 'package.json': '{}' }, strategy);
  const prepare = ['mkdir bin; echo good > bin/check'];
  const snapshot = await lab.snapshot();
  const poison = (key: string) => {
    const file = join(lab.store.root, key, 'repo/bin/check');
    const { atime, mtime } = statSync(file);
    writeFileSync(file, 'evil\n');
    utimesSync(file, atime, mtime);
  };
  const use = async () => {
    await using environments = await lab.open({ prepare });
    const { environment } = await environments.equip(snapshot);
    return environment?.key ?? '';
  };
  poison(await use());
  {
    await using environments = await lab.open({ prepare });
    const equipped = await environments.equip(snapshot);
    await using workspace = await lab.workspaces.create(equipped);
    expect(await lab.run(workspace, 'cat bin/check')).toBe('good\n');
    poison(equipped.environment?.key ?? '');
  }
  expect(lab.events.at(-1)).toMatchObject({ type: 'environment.changed' });
  expect(lab.store.list()).toEqual([]);
});

test('no layer has a secret, what an installation wrote into its inputs, or what is not a file', async () => {
  await using lab = await openLab({ 'package.json': 'a', 'package-lock.json': 'locked' }, strategy);
  const secrets = ['token-of-the-team-4711'];
  const snapshot = await lab.snapshot();
  {
    await using environments = await lab.open({
      secrets,
      prepare: [
        'echo rewritten > package-lock.json; rm package.json; mkfifo pipe; echo $SECRET_0 | tee ~/.npmrc .npmrc',
        'mkdir -p ~/.cache/tool; echo kept > ~/.cache/tool/file; git config user.name Eve',
      ],
    });
    await using workspace = await lab.workspaces.create(await environments.equip(snapshot));
    expect(
      await lab.run(workspace, 'cat package.json package-lock.json ~/.cache/tool/file; ls -A; ls -A ~'),
    ).toBe('alockedkept\n.git\npackage-lock.json\npackage.json\n.cache\n.gitconfig\n');
    const [stored] = lab.store.list();
    expect(stored?.facts).toMatchObject({
      restored_inputs: ['package-lock.json', 'package.json'],
      dropped: ['~/.npmrc', '.npmrc', 'pipe'],
    });
  }
  for (const prepare of [
    'echo "auth: $SECRET_0" > settings',
    'printf %s $SECRET_0 | base64 > ~/kept',
    'printf user:%s $SECRET_0 | base64 > ~/kept',
    'ln -s $SECRET_0 link',
  ]) {
    await using leaking = await lab.open({ secrets, prepare: [prepare] });
    await expect(leaking.equip(snapshot)).rejects.toMatchObject({
      code: 'environment-secret-kept',
      where: expect.stringMatching(/^(settings|~\/kept|link)$/),
    });
  }
  expect(lab.store.list()).toHaveLength(1);
});

test('credentials behind a link are removed in the layer, and the files of the user are not', async () => {
  const folder = makeTempDir();
  const [tree, home, user] = [join(folder, 'repo'), join(folder, 'home'), join(folder, 'user/.cargo')];
  for (const path of [tree, user, join(home, 'tools')]) mkdirSync(path, { recursive: true });
  const [own, kept] = [join(user, 'credentials.toml'), join(home, 'tools/settings.xml')];
  for (const file of [own, kept]) writeFileSync(file, 'token');
  symlinkSync(user, join(home, '.cargo'));
  symlinkSync('tools', join(home, '.m2'));
  symlinkSync('.config', join(home, '.config'));
  symlinkSync('nowhere', join(home, '.gradle'));
  expect(await dropUnshareable({ tree, home }, new Map())).toEqual(['~/.m2/settings.xml']);
  expect([own, kept].map((file) => existsSync(file))).toEqual([true, false]);
  expect(() => refuseReplaced([tree, join(home, '.cargo')])).toThrow(/replaced one of them by a link/);
  rmSync(folder, { recursive: true });
});

test('an agent that changes an input gets an environment of its own in the clean room, which is not kept', async () => {
  await using lab = await openLab({ 'package.json': 'one\n', 'src/a': 'a' }, strategy);
  await using environments = await lab.open({
    prepare: ['cp package.json installed; ! grep -q bad package.json'],
  });
  const snapshot = await environments.equip(await lab.snapshot());
  await using workspace = await lab.workspaces.create(snapshot);
  const logs = join(lab.store.root, '../again');
  const again = async (keep = () => true) =>
    environments.prepareAgain(snapshot, await workspace.changes(), keep, logs);
  await lab.run(workspace, 'echo b > src/a; rm installed');
  expect(await again()).toBeUndefined();
  await lab.run(workspace, 'echo two > package.json');
  expect(await again(() => false)).toBeUndefined();
  {
    await using own = await again();
    await using room = await lab.workspaces.create(own?.snapshot ?? snapshot);
    await room.apply(await workspace.changes());
    expect(await lab.run(room, 'cat installed package.json src/a')).toBe('two\ntwo\nb\n');
  }
  await lab.run(workspace, 'echo bad > package.json');
  await expect(again()).rejects.toMatchObject({ code: 'environment-prepare-failed' });
  expect(lab.store.list()).toHaveLength(1);
  expect(layersOf(lab.store.root)).toHaveLength(1);
  expect(readdirSync(join(lab.store.root, 'locks'))).toHaveLength(1);
});

test('a tree without an input, and a size limit that is not a number, are errors', async () => {
  await using lab = await openLab({ 'src/a': 'a' }, strategy);
  await using environments = await lab.open({ prepare: ['true'], inputs: ['package.json'] });
  await expect(environments.equip(await lab.snapshot())).rejects.toMatchObject({
    code: 'environment-inputs-missing',
  });
  expect(lab.store.list()).toEqual([]);
  vi.stubEnv('WHETSTONE_ENVIRONMENTS_GB', 'lots');
  await expect(lab.open({ prepare: ['true'] })).rejects.toMatchObject({ code: 'environment-limit-invalid' });
  vi.unstubAllEnvs();
});

test('another version of a program that prepares means another environment, also of a program that nobody knows', async () => {
  const programs = makeTempDir();
  vi.stubEnv('PATH', `${programs}:${process.env.PATH}`);
  const install = (version: string) =>
    writeFileSync(join(programs, 'frobnicate'), `#!/bin/sh\necho ${version} >> frobnicated\n`, {
      mode: 0o755,
    });
  install('1.0');
  await using lab = await openLab({ 'lock.txt': 'x\n' }, strategy);
  const keyOf = async () => {
    await using environments = await lab.open({
      prepare: ['./missing; frobnicate --now'],
      inputs: ['lock.txt'],
    });
    return (await environments.equip(await lab.snapshot())).environment?.key;
  };
  const key = await keyOf();
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(await keyOf()).toBe(key);
  install('1.1');
  expect(await keyOf()).not.toBe(key);
  rmSync(programs, { recursive: true });
});
