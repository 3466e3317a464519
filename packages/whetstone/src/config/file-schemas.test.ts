import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeTempDir } from '../workspace/__fixtures__/test-repo.ts';
import { ConfigErrors } from './diagnostic.ts';
import { fileSchemas } from './file-schemas.ts';
import { compileSchema } from './json-schema.ts';
import { keyDescriptions } from './key-descriptions.ts';
import { loadConfig } from './load-config.ts';

const packageFolder = join(import.meta.dirname, '../..');
const repository = join(packageFolder, '../..');
const names = Object.keys(fileSchemas) as (keyof typeof fileSchemas)[];

test.each(names)('the package ships %s as the loader has it', async (name) => {
  const text = `${JSON.stringify(fileSchemas[name], null, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(packageFolder, 'schema', name));
});

test('every key of whetstone.yaml has a description, and no description is of a key that is gone', () => {
  const used = new Set<string>();
  const without: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (!isJsonObject(schema)) return;
    for (const [key, below] of Object.entries(isJsonObject(schema.properties) ? schema.properties : {})) {
      const place = path === '' ? key : `${path}.${key}`;
      if (isJsonObject(below) && typeof below.description === 'string') used.add(below.description);
      else without.push(place);
      visit(below, place);
    }
    for (const choices of [schema.anyOf, schema.oneOf])
      if (Array.isArray(choices)) for (const one of choices) visit(one, path);
    visit(schema.items, `${path}.[]`);
    visit(schema.additionalProperties, `${path}.NAME`);
  };
  visit(fileSchemas['whetstone.schema.json'], '');
  expect(without).toEqual([]);
  expect(Object.values(keyDescriptions).filter((text) => !used.has(text))).toEqual([]);
});

/** Compiled once for all tests: the schemas are large. */
const misfits = Object.fromEntries(names.map((name) => [name, compiled(name)])) as Record<
  (typeof names)[number],
  ReturnType<typeof compiled>
>;

function compiled(name: (typeof names)[number]) {
  const schema = compileSchema(fileSchemas[name] as JsonObject);
  if (schema.kind === 'invalid') throw new Error(schema.problem.message);
  return schema.misfit;
}

const misfitOf = (name: (typeof names)[number], file: string) =>
  misfits[name](parse(readFileSync(file, 'utf8'), { merge: true }));

describe('files that the loader takes fit the schemas', () => {
  test.each([
    join(import.meta.dirname, '__fixtures__/every-key/whetstone.yaml'),
    join(import.meta.dirname, '__fixtures__/legacy/context-eval.yaml'),
    join(import.meta.dirname, '__fixtures__/profiles/context-eval.yaml'),
    join(repository, 'examples/demo/whetstone.yaml'),
    join(repository, 'examples/real-agents/whetstone.yaml'),
  ])('%s', async (file) => {
    expect(misfitOf('whetstone.schema.json', file)).toBeUndefined();
    const tasks = parse(readFileSync(file, 'utf8')).tasks ?? 'tasks.yaml';
    expect(misfitOf('tasks.schema.json', join(file, '..', tasks))).toBeUndefined();
  });
});

describe('a wrong shape is wrong for the loader and for the schema', () => {
  const right = {
    repo: { path: '.' },
    agents: { a: { kind: 'custom', command: 'true' } },
    variants: { plain: null },
  };
  const tasks = { tasks: [{ id: 'one', prompt: 'x' }] };

  async function loads(config: unknown, taskFile: unknown): Promise<boolean> {
    const folder = makeTempDir();
    mkdirSync(join(folder, 'hidden'));
    writeFileSync(join(folder, 'whetstone.yaml'), JSON.stringify(config));
    writeFileSync(join(folder, 'tasks.yaml'), JSON.stringify(taskFile));
    return loadConfig(join(folder, 'whetstone.yaml')).then(
      ({ warnings }) => warnings.length === 0,
      (error: unknown) => {
        if (error instanceof ConfigErrors) return false;
        throw error;
      },
    );
  }
  const fits = (name: (typeof names)[number], value: unknown) => misfits[name](value) === undefined;

  test.each<[what: string, config: Record<string, unknown>]>([
    ['nothing wrong', {}],
    ['an unknown key', { repository: '.' }],
    ['a repo without a path', { repo: {} }],
    ['a repo that is text', { repo: '.' }],
    ['no kind', { agents: { a: { command: 'true' } } }],
    ['an unknown kind', { agents: { a: { kind: 'codex' } } }],
    ['an unknown key of an agent', { agents: { a: { kind: 'custom', command: 'true', modle: 'm' } } }],
    ['a variable with a list', { agents: { a: { kind: 'custom', command: 'true', env: { A: ['x'] } } } }],
    ['a variable without a value', { agents: { a: { kind: 'custom', command: 'true', env: { A: null } } } }],
    ['a seed with a fraction', { seed: 7.5 }],
    ['a timeout of text', { agents: { a: { kind: 'custom', command: 'true', timeout_minutes: 'soon' } } }],
    ['a timeout of 0', { agents: { a: { kind: 'custom', command: 'true', timeout_minutes: 0 } } }],
    ['variants in a list', { variants: ['plain'] }],
    ['an overlay of text', { variants: { plain: { overlays: ['AGENTS.md'] } } }],
    ['an unknown mode', { gateway: { mode: 'forwards' } }],
    ['an unknown sandbox key', { sandbox: { provider: 'process', level: 1 } }],
    ['an empty list of removed paths', { variants: { plain: { overlays: [{ remove: [] }] } } }],
  ])('config: %s', async (what, changed) => {
    const config = { ...right, ...changed };
    expect(fits('whetstone.schema.json', config)).toBe(what === 'nothing wrong');
    expect(await loads(config, tasks)).toBe(what === 'nothing wrong');
  });

  test.each<[what: string, taskFile: unknown]>([
    ['nothing wrong', { tasks: [{ id: 'one', prompt: 'x', owner: 'for another tool' }] }],
    ['no tasks', { tasks: [] }],
    ['no prompt', { tasks: [{ id: 'one' }] }],
    ['a number as id', { tasks: [{ id: 1, prompt: 'x' }] }],
    ['setup of text', { tasks: [{ id: 'one', prompt: 'x', setup: 'npm ci' }] }],
    [
      'an unknown key of a check',
      { tasks: [{ id: 'one', prompt: 'x', hard_evaluation: { command_checks: [{ label: 'l' }] } }] },
    ],
  ])('tasks: %s', async (what, taskFile) => {
    expect(fits('tasks.schema.json', taskFile)).toBe(what === 'nothing wrong');
    expect(await loads(right, taskFile)).toBe(what === 'nothing wrong');
  });
});
