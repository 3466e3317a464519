import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { defineConfig, defineTasks } from '../eval/define.ts';
import type { ConfigErrors } from './diagnostic.ts';
import { loadConfig } from './load-config.ts';
import { loadProject } from './load-project.ts';

const EVERY_KEY = join(import.meta.dirname, '__fixtures__/every-key');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'typescript-config-'));
  cpSync(EVERY_KEY, folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (file: string, value: unknown): void =>
  writeFileSync(join(folder, file), `export default ${JSON.stringify(value, null, 2)};\n`);

const yaml = (file: string) => parse(readFileSync(join(folder, file), 'utf8'));

test('a configuration in TypeScript says whatever one in YAML says', async () => {
  write('tasks.ts', yaml('tasks.yaml'));
  const { agents, ...config } = yaml('whetstone.yaml');
  // Numbers that YAML keeps as they are written are text in TypeScript.
  agents.argv.env.NUMBER = '007';
  write('whetstone.config.ts', { ...config, agents, seed: '00012345678901234567890', tasks: 'tasks.ts' });
  const load = async (file: string) => (await loadConfig(join(folder, file))).config;
  const code = await load('whetstone.config.ts');
  const data = await load('whetstone.yaml');
  expect(code.tasks.length).toBeGreaterThan(0);
  expect({ ...code, file: data.file, tasksFile: data.tasksFile, replacedTasks: undefined }).toEqual({
    ...data,
    replacedTasks: undefined,
  });
});

test('experiments take the environment of the configuration', async () => {
  const other = join(folder, 'experiments');
  mkdirSync(other);
  writeFileSync(join(other, 'whetstone.yaml'), 'environment: { prepare: [npm ci] }\n');
  const { environment, warnings } = await loadProject(other);
  expect(environment).toMatchObject({ prepare: [{ script: 'npm ci' }], timeoutSeconds: 900 });
  expect(warnings).toEqual([]);
});

test('an error in the environment is named with file and line', async () => {
  writeFileSync(
    join(folder, 'wrong-tasks.ts'),
    "export default {\n  tasks: [\n    { id: 'one', prompt: 7 },\n  ],\n};\n",
  );
  writeFileSync(
    join(folder, 'wrong.config.ts'),
    `export default {
  repo: { path: '.' },
  agents: { mine: { kind: 'codex-clii' } },
  tasks: 'wrong-tasks.ts',
  variants: { plain: { overlay: [] } },
};
`,
  );
  const error: ConfigErrors = await loadConfig(join(folder, 'wrong.config.ts')).catch((thrown) => thrown);
  expect(
    error.diagnostics.map(({ file, line, column, path }) => [
      file.slice(folder.length + 1),
      line,
      column,
      path,
    ]),
  ).toEqual([
    ['wrong.config.ts', 3, 27, 'agents.mine.kind'],
    ['wrong.config.ts', 5, 24, 'variants.plain.overlay'],
    ['wrong-tasks.ts', 3, 26, 'tasks[one].prompt'],
  ]);
});

test('its keys have types', () => {
  defineConfig({
    repo: { path: '.' },
    agents: { mine: { kind: 'loop', profile: 'openai' }, other: { command: 'true', timeout_minutes: 3 } },
    variants: { plain: null, short: { instructions: 'Be brief.' } },
    sandbox: 'process',
  });
  // @ts-expect-error no agent has this key
  defineConfig({ agents: { mine: { kindd: 'loop' } } });
  // @ts-expect-error a prompt is text
  defineTasks({ tasks: [{ id: 'one', prompt: 7 }] });
});
