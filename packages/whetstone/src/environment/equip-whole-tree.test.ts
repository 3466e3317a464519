import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { strategies } from '../workspace/__fixtures__/strategies.ts';
import { commitAll } from '../workspace/__fixtures__/test-repo.ts';
import { openLab } from './__fixtures__/environment-lab.ts';

const [mount] = strategies;
const strategy = mount?.missing ? 'copy' : 'mount';
const layersOf = (root: string) => readdirSync(root).filter((name) => name !== 'locks');

test('without inputs, commands for which the manifests are not enough see the whole tree, and it is said why', async () => {
  await using lab = await openLab(
    { 'package.json': '{}', Makefile: 'x', 'src/a': 'a', 'AGENTS.md': 'old' },
    strategy,
  );
  const prepare = ['echo $(ls) > seen; cat src/a > built'];
  const wholeTree = 'with the manifests alone, prepare fails';
  const first = await lab.snapshot();
  commitAll(lab.repo, { 'AGENTS.md': 'new' });
  const instructed = await lab.snapshot();
  commitAll(lab.repo, { 'src/a': 'b' });
  const other = await lab.snapshot();
  const keys: (string | undefined)[] = [];
  {
    await using environments = await lab.open({ prepare });
    for (const snapshot of [first, instructed, other])
      keys.push((await environments.equip(snapshot)).environment?.key);
    await using workspace = await lab.workspaces.create(await environments.equip(other));
    expect(await lab.run(workspace, 'cat seen built AGENTS.md')).toBe('Makefile package.json src\nbnew');
    // An edit of a source is not a reason to install again.
    await lab.run(workspace, 'echo c > src/a');
    const again = async () =>
      environments.prepareAgain(
        await environments.equip(other),
        await workspace.changes(),
        () => true,
        join(lab.store.root, '../again'),
      );
    expect(await again()).toBeUndefined();
    await lab.run(workspace, 'echo {} >> package.json');
    await using own = await again();
    await using room = await lab.workspaces.create(own?.snapshot ?? other);
    expect(await lab.run(room, 'cat built')).toBe('c\n');
  }
  // Arms that differ in instructions have the same.
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
  expect(lab.store.list().map(({ facts }) => facts.whole_tree)).toEqual([wholeTree, wholeTree]);
  const told = lab.events.filter(({ type }) => type === 'environment.preparing');
  expect(told.map((event) => 'wholeTree' in event)).toEqual([false, true, true]);
  // The next run does not try the manifests again.
  lab.events.length = 0;
  await using next = await lab.open({ prepare });
  await next.equip(other);
  expect(lab.events).toMatchObject([{ type: 'environment.ready', isNew: false }]);
});

test('what the whole tree does not help is tried with one tree only', async () => {
  await using lab = await openLab({ 'package.json': '{}', 'src/a': 'a' }, strategy);
  const first = await lab.snapshot();
  commitAll(lab.repo, { 'src/a': 'b' });
  const other = await lab.snapshot();
  await using environments = await lab.open({ prepare: ['echo no such package >&2; exit 3'] });
  const errors: unknown[] = [];
  for (const snapshot of [first, other])
    await environments.equip(snapshot).catch((error: unknown) => errors.push(error));
  expect(errors[0]).toMatchObject({ code: 'environment-prepare-failed' });
  expect(errors[1]).toBe(errors[0]);
  expect(lab.events.map(({ type }) => type)).toEqual(['environment.preparing', 'environment.preparing']);
  expect(layersOf(lab.store.root)).toEqual([]);
});

test('a tree without a manifest is seen as a whole', async () => {
  await using lab = await openLab({ Makefile: 'x' }, strategy);
  await using environments = await lab.open({ prepare: ['cp Makefile made'] });
  await environments.equip(await lab.snapshot());
  expect(lab.store.list()).toMatchObject([{ facts: { whole_tree: 'it has no manifest and no lock file' } }]);
});

test('programs of packages inside the tree have their places while it is prepared, and only then', async () => {
  await using lab = await openLab(
    {
      'package.json': '{ "bin": "root.js" }',
      'packages/a/package.json': '{ "bin": { "a": "./dist/cli.js", "b": "b.js", "c": "../../../c.js" } }',
      'packages/a/b.js': 'own',
      'packages/b/package.json': '{ "bin": "made.js" }',
    },
    strategy,
  );
  await using environments = await lab.open({
    prepare: [
      'find . -name "*.js" | sort > seen; head -1 packages/a/b.js >> seen; echo 1 > packages/b/made.js',
    ],
  });
  await using workspace = await lab.workspaces.create(await environments.equip(await lab.snapshot()));
  expect(await lab.run(workspace, 'cat seen; find packages | sort; cat packages/a/b.js')).toBe(
    [
      ...['./packages/a/b.js', './packages/a/dist/cli.js', './packages/b/made.js', '#!/usr/bin/env node'],
      ...['packages', 'packages/a', 'packages/a/b.js', 'packages/a/package.json', 'packages/b'],
      ...['packages/b/made.js', 'packages/b/package.json', 'own'],
    ].join('\n'),
  );
});
