import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { agentKinds } from '@whetstone/agents/config';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { initRepo } from '../workspace/__fixtures__/git-folder.ts';
import { loadConfig } from './load-config.ts';

const folder = join(import.meta.dirname, '../../../../docs/agents');
const documents = readdirSync(folder).map((file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const blocks = [...text.matchAll(/```yaml\n(?!# promptfooconfig)(.*?)```/gs)].map(
    ([, block = '']) => block,
  );
  return { name: basename(file, '.md'), blocks };
});
const pages = documents.filter(({ name }) => !['README', 'matrix', 'permissions', 'choosing'].includes(name));

let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'documented-'));
  initRepo(project);
  await mkdir(join(project, 'hidden/fix-parser'), { recursive: true });
  await writeFile(join(project, 'hidden/fix-parser/test.js'), '');
  await writeFile(join(project, 'fix-parser.patch'), '');
  await mkdir(join(project, 'agents'));
  await mkdir(join(project, 'contexts'));
  await writeFile(join(project, 'agents/mine.ts'), 'export default {};\n');
  await writeFile(join(project, 'contexts/rules.md'), 'Be brief.\n');
  await writeFile(join(project, 'script.ts'), 'export default {};\n');
  await writeFile(join(project, 'tasks.yaml'), 'tasks: [{ id: one, prompt: Do it. }]\n');
});
afterAll(() => rm(project, { recursive: true, force: true }));

async function load(text: string) {
  const file = join(project, 'whetstone.yaml');
  await writeFile(file, text);
  const { config, warnings } = await loadConfig(file);
  expect(warnings).toEqual([]);
  return config;
}

describe('the examples of the guides are valid configs and tasks', () => {
  const guides = ['cost', 'dependencies', 'hidden-tests'].flatMap((name) => {
    const text = readFileSync(join(folder, `../${name}.md`), 'utf8');
    return [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = '']) => ({ name, block }));
  });
  test.each(guides)('$name', async ({ block }) => {
    const { tasks, ...config } = parse(block);
    const agents = { mine: { kind: 'custom', command: 'true' } };
    if (tasks) await writeFile(join(project, 'guide.yaml'), stringify({ tasks }));
    const keys = { repo: { path: '.' }, agents, variants: { only: {} }, ...config };
    await load(stringify(tasks ? { ...keys, tasks: 'guide.yaml' } : keys));
  });
});

/** Pages of agents that are a module. */
const MODULES = ['ai-sdk-harness', 'http'];

test('each kind of agent has a page, and so do those that are modules', () => {
  expect(pages.map(({ name }) => name).sort()).toEqual([...agentKinds, ...MODULES].sort());
});

describe('the examples on the pages are valid configs', () => {
  test.each(pages)('$name: whole, as it stands', async ({ name, blocks: [whole = ''] }) => {
    const { agents, variants } = await load(whole);
    expect(agents.map(({ kind }) => kind)).toEqual([MODULES.includes(name) ? 'custom' : name]);
    expect(variants).toHaveLength(2);
  });

  const parts = [
    ...pages.flatMap(({ name, blocks }) => blocks.slice(1).map((block) => ({ name, block }))),
    ...documents
      .filter((page) => !pages.includes(page))
      .flatMap(({ name, blocks }) => blocks.map((block) => ({ name, block }))),
  ];
  test.each(parts)('$name: a part', async ({ block }) => {
    const agents = { mine: { kind: 'custom', command: 'true' } };
    const config = { repo: { path: '.' }, agents, variants: { only: {} }, ...parse(block) };
    expect((await load(stringify(config))).agents.map(({ name }) => name)).toEqual(
      Object.keys(config.agents),
    );
  });
});
