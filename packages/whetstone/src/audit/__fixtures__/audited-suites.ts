import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { makeProject, type Project } from '../../cli/__fixtures__/project.ts';
import { runGit } from '../../workspace/__fixtures__/test-repo.ts';
import { goodTasks, goodTest, notWritten } from './good-tasks.ts';
import { startOf, weakTasks } from './weak-tasks.ts';

const PACKAGE = '{"type":"module","private":true,"scripts":{"test":"node --test"}}\n';

const patchOf = (path: string, before: string, after: string): string =>
  createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, '', '');

/** A suite of tasks with planted defects, in a sandbox that confines nothing, whose `origin` has the answer of one task. */
export function weakSuite(): Project {
  const files: Record<string, string> = { 'package.json': PACKAGE };
  for (const task of weakTasks) {
    files[`src/${task.name}.js`] = startOf(task);
    Object.assign(files, task.tree);
  }
  const tasks = weakTasks.map((one) => ({
    id: one.name,
    prompt: `Write ${one.name}.`,
    ...(one.solved !== null && { gold_patch: `gold/${one.name}.patch` }),
    ...(one.hidden && { hidden_tests: `hidden/${one.name}` }),
    ...one.task,
  }));
  const project = makeProject({ files, tasks });
  for (const one of weakTasks) {
    for (const [path, text] of Object.entries(one.hidden ?? {})) project.write({ [`hidden/${one.name}/${path}`]: text });
    if (one.solved !== null)
      project.write({ [`gold/${one.name}.patch`]: patchOf(`src/${one.name}.js`, startOf(one), one.solved) });
  }
  const origin = join(project.root, 'origin');
  mkdirSync(origin);
  runGit(origin, ['clone', '-q', project.repo, '.']);
  writeFileSync(join(origin, 'src/upstream.js'), weakTasks.find(({ name }) => name === 'upstream')?.solved ?? '');
  runGit(origin, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'Write upstream']);
  runGit(project.repo, ['remote', 'add', 'origin', `file://${origin}`]);
  return project;
}

/** A suite of tasks without a known defect. `sandbox`: one that confines. */
export function goodSuite(sandbox: string): Project {
  const files = Object.fromEntries(goodTasks.map(({ name }) => [`src/${name}.js`, notWritten(name)]));
  const tasks = goodTasks.map(({ name }) => ({
    id: name,
    prompt: `Write ${name}.`,
    gold_patch: `gold/${name}.patch`,
    hidden_tests: `hidden/${name}`,
    validation: { tests: { runner: 'node-test', files: [`test/${name}.test.js`] }, timeout_seconds: 60 },
  }));
  const project = makeProject({ files: { ...files, 'package.json': PACKAGE }, tasks, config: { sandbox } });
  for (const task of goodTasks) {
    const { name, solved } = task;
    project.write({
      [`hidden/${name}/test/${name}.test.js`]: goodTest(task),
      [`gold/${name}.patch`]: patchOf(`src/${name}.js`, notWritten(name), solved),
    });
  }
  return project;
}
