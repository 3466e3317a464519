import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { commitAll } from '../workspace/__fixtures__/test-repo.ts';
import type { Finished } from './__fixtures__/command-line.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

const SOURCES = [
  '.whetstone/runs/old/cases/one/changes.patch',
  'contexts/a/RULES.md',
  'docs/.whetstone/runs/older/changes.patch',
  'eval/hidden/one/test/answer.txt',
  'kept/old/changes.patch',
  'more/rules.md',
  'skills/tea/SKILL.md',
  'tasks.yaml',
  'whetstone.yaml',
];

const WITHHELD = [
  { path: '.whetstone', what: 'runs' },
  { path: 'arms/a', what: 'an overlay of variant a' },
  { path: 'arms/b', what: 'an overlay of variant b' },
  { path: 'contexts/a/RULES.md', what: 'an overlay of variant a' },
  { path: 'eval/hidden/one', what: 'hidden tests of task one' },
  { path: 'kept', what: 'runs' },
  { path: 'more/rules.md', what: 'instructions of variant b' },
  { path: 'tasks.yaml', what: 'the tasks' },
  { path: 'whetstone.yaml', what: 'the configuration' },
];

describe('a configuration inside the repository', () => {
  let project: Project;
  let finished: Finished;
  const noted = (variant: string, name: string) =>
    readFileSync(join(project.notes, `${variant}-${name}`), 'utf8')
      .split('\n')
      .filter(Boolean);

  beforeAll(async () => {
    project = makeProject();
    const agent = `arm=$(cat ARM); find . -path ./.git -prune -o -type f -print | sort > ${project.notes}/$arm-files
      git log --all -p > ${project.notes}/$arm-history; git status --porcelain > ${project.notes}/$arm-status ; echo done > answer.txt`;
    const config = {
      repo: { path: '.' },
      agents: { looks: { kind: 'custom', command: ['sh', '-c', agent] } },
      variants: {
        a: {
          overlays: [
            { source: 'contexts/a/RULES.md', target: 'RULES.md' },
            { source: 'arms/a', target: 'ARM' },
          ],
        },
        b: { instructions: 'more/rules.md', overlays: [{ source: 'arms/b', target: 'ARM' }] },
      },
      evaluation: { commands: ['cat test/answer.txt && test -s answer.txt && ! test -e tasks.yaml'] },
      output_dir: 'kept',
    };
    const secret = Object.fromEntries(SOURCES.map((path) => [path, `SECRET-ANSWER of ${path}\n`]));
    const files = {
      ...secret,
      'README.md': 'A project.\n',
      'arms/a': 'a\n',
      'arms/b': 'b\n',
      'contexts/README.md': 'Stays.\n',
      'tasks.yaml': stringify({
        tasks: [{ id: 'one', prompt: 'Do it. SECRET-ANSWER', hidden_tests: 'eval/hidden/one' }],
      }),
      'whetstone.yaml': stringify(config),
    };
    commitAll(project.repo, files);
    finished = await project.whetstone(['run', '-c', join(project.repo, 'whetstone.yaml')]);
  });
  afterAll(() => project[Symbol.dispose]());

  test('no arm finds the tasks, hidden tests, sources of any variant or older runs', () => {
    expect(finished.exitCode, finished.stderr).toBe(0);
    expect(noted('a', 'files')).toEqual([
      './ARM',
      './README.md',
      './RULES.md',
      './contexts/README.md',
      './skills/tea/SKILL.md',
      './test/check.txt',
    ]);
    expect(noted('b', 'files')).toEqual([
      './AGENTS.md',
      './ARM',
      './README.md',
      './contexts/README.md',
      './skills/tea/SKILL.md',
      './test/check.txt',
    ]);
  });

  test('the history of the tree does not have them either, and they are not a change', () => {
    for (const arm of ['a', 'b']) {
      expect(noted(arm, 'history').join('\n')).not.toContain('SECRET-ANSWER of eval');
      expect(noted(arm, 'status')).toEqual([]);
    }
  });

  test('the manifest lists them, with the reason', () => {
    const [directory = ''] = readdirSync(join(project.repo, 'kept')).filter((name) => name !== 'old');
    const manifest = JSON.parse(readFileSync(join(project.repo, 'kept', directory, 'manifest.json'), 'utf8'));
    expect(manifest.withheld).toEqual(WITHHELD);
  });

  test('`validate-config` lists them too', async () => {
    const args = ['validate-config', '-c', join(project.repo, 'whetstone.yaml')];
    const shown = await project.whetstone(args);
    expect(shown.stdout).toContain(
      'eval/hidden/one (hidden tests of task one), kept (runs), more/rules.md (',
    );
    const { stdout } = await project.whetstone([...args, '--json']);
    expect(JSON.parse(stdout).withheld).toEqual(WITHHELD);
  });

  test('a run cannot be resumed after the configuration withholds something else', async () => {
    const config = join(project.repo, 'whetstone.yaml');
    const text = readFileSync(config, 'utf8');
    writeFileSync(config, text.replace('more/rules.md', 'more/same-rules.md'));
    writeFileSync(
      join(project.repo, 'more/same-rules.md'),
      readFileSync(join(project.repo, 'more/rules.md')),
    );
    const resumed = await project.whetstone(['run', '-c', config, '--resume', 'latest']);
    writeFileSync(config, text);
    expect(resumed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cannot be resumed') });
  });
});
