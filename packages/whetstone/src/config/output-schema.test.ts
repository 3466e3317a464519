import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentKinds, protocolAgentsOf } from '@whetstone/agents/config';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { fingerprintTask } from '../plan/fingerprint.ts';
import type { TaskConfig } from './config.ts';
import { ConfigErrors, type Diagnostic } from './diagnostic.ts';
import { loadConfig } from './load-config.ts';

let folder: string;
const folders: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'output-schema-'));
  folders.push(folder);
  mkdirSync(join(folder, 'repo'));
});
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

const LOOP = { loop: { kind: 'loop', profile: 'openai' } };

function load(outputSchema: unknown, agents: Record<string, unknown> = LOOP) {
  const task = { id: 'one', prompt: 'Do it.', output_schema: outputSchema };
  const config = { repo: { path: 'repo' }, agents, variants: { v: {} } };
  writeFileSync(join(folder, 'tasks.yaml'), stringify({ tasks: [task] }));
  writeFileSync(join(folder, 'whetstone.yaml'), stringify(config));
  return loadConfig('whetstone.yaml', { cwd: folder });
}

async function taskOf(outputSchema: unknown): Promise<TaskConfig> {
  const { config, warnings } = await load(outputSchema);
  expect(warnings).toEqual([]);
  const [task] = config.tasks;
  if (!task) throw new Error('no task');
  return task;
}

async function problemsOf(
  outputSchema: unknown,
  agents?: Record<string, unknown>,
): Promise<readonly Diagnostic[]> {
  const failure: unknown = await load(outputSchema, agents).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof ConfigErrors)) throw new Error('nothing was wrong', { cause: failure });
  return failure.diagnostics;
}

const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { verdict: { enum: ['good', 'bad'] }, next: { $ref: '#' } },
  required: ['verdict'],
};

test('a file and a mapping are the same schema, by content and in the fingerprint', async () => {
  writeFileSync(join(folder, 'answer.json'), JSON.stringify(SCHEMA, null, 4));
  const [file, inline, none] = [await taskOf('answer.json'), await taskOf(SCHEMA), await taskOf(null)];
  expect(file.outputSchema).toEqual(SCHEMA);
  expect(await fingerprintTask(file)).toBe(await fingerprintTask(inline));
  const other = await taskOf({ ...SCHEMA, required: [] });
  expect(new Set(await Promise.all([inline, other, none].map(fingerprintTask))).size).toBe(3);
});

test.each([
  ['a file that is not there', 'answer.json', undefined, 'does not exist: '],
  ['a folder', 'repo', undefined, 'is not a file: '],
  ['a list', ['object'], undefined, 'expected text or a mapping, got a list'],
  ['a wrong type', { type: 'objct' }, undefined, '/type must be equal to one of the allowed values'],
  [
    'a wrong type further down',
    { type: 'object', properties: { a: { type: 'text' } } },
    undefined,
    'is not a JSON Schema: /properties/a/type must be equal to one of the allowed values',
  ],
  ['no object at the root', { type: 'string' }, undefined, 'the answer must be an object'],
  ['an empty schema', {}, undefined, 'the answer must be an object'],
  [
    'a reference to nowhere',
    { type: 'object', $ref: '#/$defs/a' },
    undefined,
    "can't resolve reference #/$defs/a",
  ],
  [
    'one that is too large',
    { type: 'object', title: 'x'.repeat(70_000) },
    undefined,
    'is larger than 64 KiB',
  ],
  ['no UTF-8', 'answer.json', '\xff', 'is not UTF-8 text'],
] as const)('%s is refused, where it stands', async (_, outputSchema, content, message) => {
  if (content !== undefined) writeFileSync(join(folder, 'answer.json'), content, 'latin1');
  const [problem, ...more] = await problemsOf(outputSchema);
  expect(more).toEqual([]);
  expect(problem?.message).toContain(message);
  expect(problem).toMatchObject({ file: join(folder, 'tasks.yaml'), severity: 'error' });
  expect(problem?.path).toMatch(/^tasks\[one\]\.output_schema/);
  expect(problem?.line).toBeGreaterThanOrEqual(4);
});

test.each([
  ['{\n  "type": "object",\n}', { line: 3, column: 1 }, 'is not JSON: Expected double-quoted property name'],
  ['{"type": "object"} x', { line: 1, column: 20 }, 'is not JSON: Unexpected non-whitespace character'],
  ['nope', {}, 'is not JSON: Unexpected token'],
  ['', {}, 'is not JSON: Unexpected end'],
  ['[1]', { line: 1, column: 1 }, 'expected an object'],
  [
    '{\n  "type": "object",\n  "properties": {\n    "a/b": { "minimum": "0" }\n  }\n}',
    { line: 4, column: 25 },
    'is not a JSON Schema: /properties/a~1b/minimum must be number',
  ],
  ['{ "type": "array" }', { line: 1, column: 11 }, 'the answer must be an object'],
])('what is wrong in the file %j is said there', async (content, place, message) => {
  writeFileSync(join(folder, 'answer.json'), content);
  const [problem, ...more] = await problemsOf('answer.json');
  expect(more).toEqual([]);
  expect(problem?.message).toContain(message);
  const file = join(folder, 'answer.json');
  expect(problem).toMatchObject({ file, path: 'tasks[one].output_schema', ...place });
});

test('agents that cannot be given an output schema are named; a module declares it itself', async () => {
  writeFileSync(join(folder, 'mine.ts'), '');
  const able = [
    ...['codex-cli', 'codex-app-server', 'codex-sdk'],
    ...['claude-code', 'claude-agent-sdk', 'qwen-code', 'opencode-sdk'],
  ];
  const agents = Object.fromEntries(
    agentKinds
      .filter((kind) => kind !== 'loop')
      .map((kind) => {
        const isCommand = ['traecli', 'coco', 'bub', 'custom'].includes(kind);
        const isProtocol = protocolAgentsOf(kind) !== undefined;
        return [
          kind,
          { kind, ...(isCommand && { command: 'true' }), ...(isProtocol && { agent: 'copilot' }) },
        ];
      }),
  );
  const more = {
    ...LOOP,
    wrapped: { kind: 'codex-cli', command: 'codex' },
    mine: { kind: 'custom', module: 'mine.ts' },
  };
  const [problem, ...others] = await problemsOf(SCHEMA, { ...agents, ...more });
  expect(others).toEqual([]);
  const unable = Object.keys(agents).filter((kind) => !able.includes(kind));
  const named = [...unable, 'wrapped'].map((name) => expect.stringContaining(name));
  expect(problem?.message.split(', ')).toEqual(named);
  expect(problem?.message).toContain(
    'wrapped (kind: codex-cli with a command) cannot be given an output schema',
  );
  expect(problem).toMatchObject({ file: join(folder, 'tasks.yaml'), path: 'tasks[one].output_schema' });
});
