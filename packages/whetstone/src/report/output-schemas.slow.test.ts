import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@whetstone/events';
import { createGenerator, type SchemaGenerator } from 'ts-json-schema-generator';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { makeProject } from '../cli/__fixtures__/project.ts';
import { compileSchema } from '../config/json-schema.ts';
import { keptRowSchema } from '../record/row.ts';
import { hostileRun, sampleRun } from './__fixtures__/sample-run.ts';
import { renderJson } from './json.ts';
import { summarize } from './summarize.ts';

const source = join(import.meta.dirname, '..');
const shipped = join(source, '../schema');

/** What commands print with `--json`: the file of its schema, and the type that it is made from. */
const OUTPUTS = {
  'summary.schema.json': { type: 'Summary', title: 'What `whetstone run --json` prints, and summary.json' },
  'compare.schema.json': { type: 'RunComparison', title: 'What `whetstone compare --json` prints' },
  'canary.schema.json': { type: 'CanaryReport', title: 'What `whetstone canary --json` prints' },
} as const;
type Output = keyof typeof OUTPUTS | 'report.schema.json';

const schemas = new Map<Output, JsonObject>();

beforeAll(() => {
  const generator = createGenerator({
    path: `${source}/{report/summary,report/run-comparison,canary/canary-report}.ts`,
    tsconfig: join(source, '../../../tsconfig.json'),
    skipTypeCheck: true,
    topRef: false,
    additionalProperties: false,
  });
  for (const [file, { type, title }] of Object.entries(OUTPUTS) as [
    keyof typeof OUTPUTS,
    { type: string; title: string },
  ][])
    schemas.set(file, named(file, title, made(generator, type)));
  const { definitions, $schema: _, ...summary } = made(generator, 'Summary');
  const row = { ...(z.toJSONSchema(keptRowSchema, { target: 'draft-7' }) as JsonObject) };
  delete row.$schema;
  schemas.set(
    'report.schema.json',
    named('report.schema.json', 'What `whetstone report --json` prints', {
      type: 'object',
      properties: {
        $schema: { type: 'string' },
        schema_version: { type: 'string', const: '1' },
        summary,
        cases: { type: 'array', items: row, description: 'The rows of results.jsonl, in planned order.' },
      },
      required: ['$schema', 'schema_version', 'summary', 'cases'],
      additionalProperties: false,
      ...(definitions !== undefined && { definitions }),
    }),
  );
});

const made = (generator: SchemaGenerator, type: string): JsonObject =>
  JSON.parse(JSON.stringify(generator.createSchema(type)));

const named = (file: string, title: string, schema: JsonObject): JsonObject => ({
  ...schema,
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: `urn:whetstone:schema:${file.split('.')[0]}:1`,
  title,
});

const files: Output[] = ['report.schema.json', ...(Object.keys(OUTPUTS) as (keyof typeof OUTPUTS)[])];

test.each(files)('the package ships %s as the types have it', async (file) => {
  const schema = schemas.get(file) ?? {};
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(join(shipped, file));
});

/** The first thing that does not fit; `undefined`: everything fits. */
function misfit(file: Output, value: unknown) {
  const schema = compileSchema(JSON.parse(readFileSync(join(shipped, file), 'utf8')));
  if (schema.kind === 'invalid') throw new Error(schema.problem.message);
  return schema.misfit(value);
}

test.each([
  ['usual', sampleRun()],
  ['hostile', hostileRun()],
  ['unfinished', { ...sampleRun(), rows: sampleRun().rows.slice(0, 5) }],
  ['empty', { ...sampleRun(), rows: [] }],
])('the report of a run that is %s fits its schema', (_, { manifest, rows }) => {
  const report = JSON.parse(renderJson(summarize(manifest, rows), rows));
  expect(misfit('report.schema.json', report)).toBeUndefined();
  expect(misfit('summary.schema.json', report.summary)).toBeUndefined();
  expect(report.$schema).toBe(schemas.get('report.schema.json')?.$id);
});

test('what commands print of real runs fits, also where numbers are unknown and cases have errors', async () => {
  using project = makeProject({
    agents: { amy: 'test -f AGENTS.md && echo done >> README.md; exit 0', bob: 'exit 3' },
    tasks: ['one', 'two', 'three', 'four'].map((id) => ({ id, prompt: 'Do it.' })),
    config: {
      variants: { without: {}, with: { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] } },
      evaluation: { commands: ['grep done README.md'] },
    },
  });
  project.write({ 'notes.md': 'Read the tests.\n' });
  const json = async (...args: string[]) => JSON.parse((await project.whetstone([...args, '--json'])).stdout);
  const summary = await json('run', '--jobs', '4');
  expect(misfit('summary.schema.json', summary)).toBeUndefined();
  const report = await json('report', 'latest');
  expect(misfit('report.schema.json', report)).toBeUndefined();
  expect(report.cases.some((row: unknown) => isJsonObject(row) && row.cost_usd === null)).toBe(true);
  expect(misfit('compare.schema.json', await json('compare', 'without', 'with'))).toBeUndefined();
  const { run_id: id } = summary;
  expect(misfit('canary.schema.json', await json('canary', 'start', '--from', id))).toBeUndefined();
  expect(misfit('canary.schema.json', await json('canary', 'run', '--jobs', '4'))).toBeUndefined();
  const wrong = { ...report, summary: { ...summary, baseline: 1 } };
  expect(misfit('report.schema.json', wrong)?.pointer).toBe('/summary/baseline');
});
