import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { KNOWN_MODELS } from '../../../../examples/real-agents/drive-agent.ts';
import { makeProject } from '../cli/__fixtures__/project.ts';
import { readTaskFolder, taskFoldersIn } from '../config/read-task-file.ts';
import { makeHistory } from './__fixtures__/history.ts';
import { PREPARE_VITEST } from './__fixtures__/prepare-vitest.ts';
import { smallProject } from './__fixtures__/small-project.ts';

const installed = join(import.meta.dirname, '../../../../.cache');
const project = makeProject();
const repo = makeHistory(
  smallProject({ url: 'http://127.0.0.1:1/', counter: join(project.root, 'counter') }),
);
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(repo, { recursive: true, force: true });
});

/** Plays the patch of the task whose prompt the agent was given. */
const SCRIPT = `
const tasks = TASKS;
export default {
  name: 'gold',
  play({ step, userText }) {
    const task = tasks.find(({ prompt }) => userText.includes(prompt));
    if (step > 0 || !task) return { text: task ? 'Done.' : 'Which task is it?' };
    return { calls: [{ tool: 'shell', command: "git apply - <<'END'\\n" + task.patch + 'END\\n' }] };
  },
};
`;

test('a released agent that makes the patch of the commit passes every mined task', async () => {
  const environment = { XDG_CACHE_HOME: installed };
  const prepare = PREPARE_VITEST.flatMap((one) => ['--prepare', one]);
  const limits = ['--timeout', '5', '--repeat', '2', '--jobs', '2'];
  const mined = await project.whetstone(
    ['tasks', 'mine', '--repo', repo, '--out', 'tasks/mined', ...limits, ...prepare],
    environment,
  );
  expect(mined.exitCode, mined.stderr).toBe(0);
  const folders = taskFoldersIn(join(project.root, 'tasks/mined'));
  const tasks = await Promise.all(
    folders.map(async (folder) => ({
      prompt: (await readTaskFolder(folder)).prompt,
      patch: readFileSync(join(folder, 'gold.patch'), 'utf8'),
    })),
  );
  project.write({
    'tasks.yaml': 'include: [tasks/mined]\n',
    'gold.mjs': SCRIPT.replace('TASKS', JSON.stringify(tasks)),
  });
  project.writeConfig({
    repo: { path: repo },
    environment: { prepare: PREPARE_VITEST },
    agents: { pi: { kind: 'pi', model: KNOWN_MODELS.pi, timeout_minutes: 2 } },
    gateway: { mode: 'script', script: 'gold.mjs' },
  });
  const { stderr } = await project.whetstone(['run', '--jobs', '2'], environment);
  expect(project.runDirectories(), stderr).toHaveLength(1);
  const { rows } = project.latest();
  expect(rows.map(({ outcome, evidence }) => evidence ?? outcome)).toEqual(Array(6).fill('passed'));
}, 300_000);
