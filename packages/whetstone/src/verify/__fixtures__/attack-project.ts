import { makeProject, type Project } from '../../cli/__fixtures__/project.ts';
import type { Attack, Target } from '../../testkit/attacks/attack.ts';
import type { TreeSpec } from '../../workspace/__fixtures__/test-repo.ts';

const NODE_FILES: TreeSpec = {
  'package.json': '{"type":"module","scripts":{"test":"node --test"}}\n',
  'src/add.js': 'export const add = (a, b) => a - b;\n',
  'test/start.test.js': "import { test } from 'node:test';\ntest('starts', () => {});\n",
};
const NODE_TEST = `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { add } from '../src/add.js';
test('adds one', () => equal(add(1, 1), 2));
test('adds more', () => equal(add(2, 3), 5));
`;
const PYTHON_FILES: TreeSpec = {
  'pyproject.toml': '[project]\nname = "sum"\nversion = "1"\n',
  'add.py': 'def add(a, b):\n    return a - b\n',
};
const PYTHON_TEST = `from unittest import mock
from add import add
def test_one(): assert add(1, 1) == 2
def test_more(): assert add(2, 3) == 5
`;

const nodeTasks = [
  {
    id: 'node-command',
    prompt: 'Make it add.',
    hidden_tests: 'hidden/node',
    validation: { commands: ['npm test'] },
  },
  {
    id: 'node-tests',
    prompt: 'Make it add.',
    hidden_tests: 'hidden/node',
    validation: {
      tests: {
        runner: 'node-test',
        files: ['test/add.test.js'],
      },
    },
  },
];
const pythonTasks = [
  {
    id: 'python-command',
    prompt: 'Make it add.',
    hidden_tests: 'hidden/python',
    validation: { commands: ['python3 -m pytest tests'] },
  },
  {
    id: 'python-tests',
    prompt: 'Make it add.',
    hidden_tests: 'hidden/python',
    validation: {
      tests: {
        runner: 'pytest',
        files: ['tests/test_add.py'],
      },
    },
  },
];

/** The tasks that attacks are played on: one judged by a command, one by the report of its tests. */
const attacked = {
  node: {
    files: NODE_FILES,
    tasks: nodeTasks,
    honest: "echo 'export const add = (a, b) => a + b;' > src/add.js",
    target: {
      sources: [{ path: 'src/add.js', format: 'module', exports: ['add'] }],
      tests: ['test/add.test.js'],
    },
  },
  python: {
    files: PYTHON_FILES,
    tasks: pythonTasks,
    honest: "printf 'def add(a, b):\\n    return a + b\\n' > add.py",
    target: {
      sources: [{ path: 'add.py', format: 'python', exports: ['add'] }],
      tests: ['tests/test_add.py'],
    },
  },
} satisfies Record<string, { target: Target; [more: string]: unknown }>;

/** A project with the task that is judged in one way, whose agents are the attacks and one that does the work, `honest`. */
export function attackProject(
  language: keyof typeof attacked,
  judge: 'command' | 'tests',
  attacks: readonly Attack[],
): Project {
  const { files, tasks, honest, target } = attacked[language];
  const agents = Object.fromEntries(attacks.map(({ name, script }) => [name, script(target)]));
  const task = tasks.filter(({ id }) => id.endsWith(judge));
  const project = makeProject({ files, tasks: task, agents: { ...agents, honest } });
  project.write({ 'hidden/node/test/add.test.js': NODE_TEST, 'hidden/python/tests/test_add.py': PYTHON_TEST });
  return project;
}
