import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../config/load-config.ts';
import { makeRepo, makeTempDir, runGit, writeTree } from './__fixtures__/test-repo.ts';
import { findWithheld, withheldBy } from './withheld.ts';

let root: string;
let repo: string;
beforeEach(() => {
  root = makeTempDir();
  repo = makeRepo({ 'README.md': 'A project.\n' });
});
afterEach(() => {
  for (const folder of [root, repo]) rmSync(folder, { recursive: true, force: true });
});

/** The withheld paths of a configuration at `file`. */
async function withheldFrom(folder: string, keys: Record<string, unknown> = {}): Promise<string[]> {
  const config = {
    repo: { path: repo },
    agents: { one: { kind: 'custom', command: 'true' } },
    variants: { baseline: {} },
    evaluation: { commands: ['true'] },
    output_dir: join(root, 'runs'),
    ...keys,
  };
  writeTree(folder, {
    'whetstone.yaml': stringify(config),
    'tasks.yaml': stringify({ tasks: [{ id: 'one', prompt: 'Do it.' }] }),
  });
  const loaded = await loadConfig(join(folder, 'whetstone.yaml'));
  return (await findWithheld(loaded.config)).map(({ path }) => path);
}

describe('findWithheld', () => {
  it('finds nothing but the folders of runs for a configuration beside the repository', async () => {
    expect(await withheldFrom(root)).toEqual(['.whetstone']);
  });

  it('finds the tasks of the configuration and their hidden tests where others run', async () => {
    await withheldFrom(join(repo, 'eval'));
    writeTree(repo, {
      'eval/tasks.yaml': stringify({ tasks: [{ id: 'one', prompt: 'Do it.', hidden_tests: 'hidden/one' }] }),
      'eval/others.yaml': stringify({ tasks: [{ id: 'two', prompt: 'Do it.' }] }),
      'eval/hidden/one/answer.txt': 'The answer.\n',
    });
    const tasksFile = join(repo, 'eval/others.yaml');
    const { config } = await loadConfig(join(repo, 'eval/whetstone.yaml'), { tasksFile });
    expect((await findWithheld(config)).map(({ path }) => path)).toEqual([
      '.whetstone',
      'eval/hidden/one',
      'eval/others.yaml',
      'eval/tasks.yaml',
      'eval/whetstone.yaml',
    ]);
  });

  it('finds the folders of included tasks, and the journal of mining beside them', async () => {
    await withheldFrom(join(repo, 'eval'));
    writeTree(repo, {
      'eval/tasks.yaml': stringify({ include: ['mined', 'own/two'] }),
      'eval/mined/mined.jsonl': '{}\n',
      'eval/mined/one/task.yaml': stringify({ id: 'one', prompt: 'Do it.' }),
      'eval/own/two/task.yaml': stringify({ id: 'two', prompt: 'Do it.' }),
    });
    const { config } = await loadConfig(join(repo, 'eval/whetstone.yaml'));
    expect((await findWithheld(config)).map(({ path }) => path)).toEqual([
      '.whetstone',
      'eval/mined/mined.jsonl',
      'eval/mined/one',
      'eval/own/two',
      'eval/tasks.yaml',
      'eval/whetstone.yaml',
    ]);
  });

  it('finds what tasks in code and a script import, and no package.json', async () => {
    writeTree(repo, {
      'package.json': '{ "type": "module" }\n',
      'eval/answers.ts': "export const answer = '42';\n",
      'eval/deeper/texts.ts': "export { answer as prompt } from '../answers.ts';\n",
      'eval/tasks.ts':
        "import './../package.json' with { type: 'json' };\nimport { prompt } from './deeper/texts.ts';\nexport default { tasks: [{ id: 'one', prompt, hidden_tests: 'hidden' }] };\n",
      'eval/hidden/answer.txt': 'The answer.\n',
      'eval/turns.mjs': "export const text = 'Done.';\n",
      'eval/script.mjs':
        "import { text } from './turns.mjs';\nexport default { name: 'done', play: () => ({ text }) };\n",
    });
    const folder = join(repo, 'eval');
    const keys = { tasks: 'tasks.ts', gateway: { mode: 'script', script: 'script.mjs' } };
    const all = [
      ...['.whetstone', 'eval/answers.ts', 'eval/deeper/texts.ts', 'eval/hidden', 'eval/script.mjs'],
      ...['eval/tasks.ts', 'eval/turns.mjs', 'eval/whetstone.yaml'],
    ];
    expect(await withheldFrom(folder, keys)).toEqual(all);
    // Also where other tasks run.
    const { config } = await loadConfig(join(folder, 'whetstone.yaml'), {
      tasksFile: join(folder, 'tasks.yaml'),
    });
    expect((await findWithheld(config)).map(({ path }) => path)).toEqual([...all, 'eval/tasks.yaml'].sort());
  });

  it('finds paths behind a symlink to the repository', async () => {
    symlinkSync(repo, join(root, 'link'));
    expect(await withheldFrom(join(root, 'link'))).toEqual(['.whetstone', 'tasks.yaml', 'whetstone.yaml']);
  });

  it('finds a symlink in the repository and what it leads to', async () => {
    mkdirSync(join(repo, 'real'));
    writeFileSync(join(repo, 'real/rules.md'), 'Rules.\n');
    symlinkSync('real/rules.md', join(repo, 'rules.md'));
    const keys = { variants: { baseline: { instructions: join(repo, 'rules.md') } } };
    expect(await withheldFrom(root, keys)).toEqual(['.whetstone', 'real/rules.md', 'rules.md']);
  });

  it('finds paths in another work tree of the repository', async () => {
    const other = join(root, 'other');
    runGit(repo, ['worktree', 'add', '-q', '--detach', other]);
    expect(await withheldFrom(join(other, 'eval'))).toEqual([
      '.whetstone',
      'eval/tasks.yaml',
      'eval/whetstone.yaml',
    ]);
  });

  it('refuses to withhold the whole repository', async () => {
    await expect(withheldFrom(root, { output_dir: repo })).rejects.toMatchObject({
      code: 'withheld-repository',
    });
  });
});

describe('withheldBy', () => {
  it('matches a path, what is below it, and every folder .whetstone', () => {
    const isWithheld = withheldBy([
      { path: '.whetstone', what: 'runs' },
      { path: 'a/b', what: 'the tasks' },
    ]);
    const paths = ['a/b', 'a/b/c', 'a/bc', 'a', 'b', 'x/.whetstone/y', '.whetstone', 'x/.whetstones/y'];
    expect(paths.filter(isWithheld)).toEqual(['a/b', 'a/b/c', 'x/.whetstone/y', '.whetstone']);
  });
});
