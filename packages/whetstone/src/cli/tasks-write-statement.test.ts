import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openStatementWriter } from '../run/open-statement-writer.ts';
import { makeHistory } from '../tasks/__fixtures__/history.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

/** Answers as node's runner would, without starting one: the test passes where the source says 2. */
const RUNNER = `#!/bin/sh
for each; do case $each in --outputFile=*) report=\${each#*=};; esac; done
grep -q 2 src/half.js && status=passed || status=failed
test="{\\"ancestorTitles\\":[],\\"title\\":\\"half\\",\\"status\\":\\"$status\\"}"
echo "{\\"testResults\\":[{\\"name\\":\\"$PWD/test/half.test.js\\",\\"assertionResults\\":[$test]}]}" > "$report"
`;
const SETUP = 'mkdir -p node_modules/.bin; cp jest node_modules/.bin; chmod +x node_modules/.bin/jest';
const SAID =
  'Half of a number is a third of it today. It should be the number divided by two, as 1a2b3c4 said in #12345.';

/** Writes what stands in the file beside it, with the usage of a call. */
const SCRIPT = `
export default {
  name: 'writer',
  play({ text }) {
    if (!text.includes('+2') || !text.includes('test/half.test.js')) throw new Error('the commit is not in the question');
    return { data: { statement: ${JSON.stringify(SAID)} } };
  },
};
`;

/** 100,000 tokens in and 50,000 out. */
const message = (statement: string) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'end_turn' },
  content: [{ type: 'text', text: JSON.stringify({ statement }) }],
  usage: { input_tokens: 100_000, output_tokens: 50_000 },
});

let project: Project;
let repo: string;
/** What the provider answers: a status and a body. */
let answer: [number, object] = [200, {}];
let asked = 0;
const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    asked += 1;
    const headers = { 'content-type': 'application/json', 'retry-after-ms': '1', 'retry-after': '0' };
    response.writeHead(answer[0], headers).end(JSON.stringify(answer[1]));
  });
});

const url = () => `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;

beforeAll(async () => {
  project = makeProject();
  project.write({ 'writer.mjs': SCRIPT });
  repo = makeHistory([
    {
      message: 'Start',
      files: { 'package.json': '{"scripts":{"test":"jest"}}', 'src/half.js': '1\n', jest: RUNNER },
    },
    { message: 'Half', files: { 'src/half.js': '2\n', 'test/half.test.js': 'half\n' } },
  ]);
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  provider.close();
  project[Symbol.dispose]();
  rmSync(repo, { recursive: true });
});

const mine = (out: string, model: string, ...more: string[]) =>
  project.whetstone(
    [
      ...['tasks', 'mine', '--repo', repo, '--out', out, '--repeat', '2', '--setup', SETUP],
      ...['--write-statement', model, ...more],
    ],
    { ANTHROPIC_API_KEY: 'key-of-a-test' },
  );
const provenanceIn = (out: string) => {
  const [folder = ''] = readdirSync(join(project.root, out)).filter((name) => name.startsWith('half-'));
  const read = (name: string) => readFileSync(join(project.root, out, folder, name), 'utf8');
  return { folder, task: read('task.yaml'), provenance: JSON.parse(read('provenance.json')) };
};

test('a model writes the statement where no text says enough, once, and the leak check reads it', async () => {
  project.writeConfig({ gateway: { mode: 'script', script: 'writer.mjs' } });
  const { stdout, stderr, exitCode } = await mine('written', 'anthropic/claude-sonnet-4-5');
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain('Statements:\n  1  model');
  const { folder, task, provenance } = provenanceIn('written');
  expect(task).toContain('category: model');
  expect(task).toContain('as 1a2b3c4 said in .');
  expect(provenance).toMatchObject({
    grade: 'model',
    statement_source: 'anthropic/claude-sonnet-4-5',
    statement_cost_usd: null,
    review: ['has 1a2b3c4, which may be a commit id'],
    passed_over: ['the commit message: only 1 word'],
  });
  // The same commit is not paid for again, even where the model would not answer.
  rmSync(join(project.root, 'written', folder), { recursive: true });
  rmSync(join(project.root, 'written/mined.jsonl'));
  project.write({
    'writer.mjs': 'export default { name: "none", play() { throw new Error("not again"); } };\n',
  });
  expect(await mine('written', 'anthropic/claude-sonnet-4-5')).toMatchObject({ exitCode: 0 });
  expect(provenanceIn('written').task).toBe(task);
});

test('a provider that refuses ends the mining with its reason; the commit is tried again', async () => {
  project.writeConfig({ gateway: { mode: 'forward', upstreams: { anthropic: { url: url() } } } });
  answer = [401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }];
  const refused = await mine('refused', 'anthropic/claude-sonnet-4-5');
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain(
    "anthropic/claude-sonnet-4-5 cannot write statements: The provider refused the gateway's key.",
  );

  answer = [200, message('Too short.')];
  const short = await mine('refused', 'anthropic/claude-sonnet-4-5');
  expect(short.exitCode, short.stderr).toBe(0);
  expect(provenanceIn('refused').provenance).toMatchObject({
    grade: 'tests',
    passed_over: ['the commit message: only 1 word', 'anthropic/claude-sonnet-4-5: only 2 words'],
  });
  expect(asked).toBe(2);
});

test('the cost of statements is counted, and a used-up budget ends them', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-a-test');
  await using writer = await openStatementWriter({
    ...{ model: 'anthropic/claude-sonnet-4-5', budgetUsd: 0.5, signal: new AbortController().signal },
    gateway: {
      ...{ mode: 'forward', upstreams: [{ provider: 'anthropic', baseUrl: url() }], faults: [] },
      ...{ providerTools: false, allowEndpoints: [] },
    },
  });
  const prompt = {
    instructions: 'Write.',
    question: 'What?',
    schema: { type: 'object' as const, properties: {} },
  };
  answer = [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }];
  const overloaded = writer.ask(prompt);
  await expect(overloaded).rejects.toThrow('did not write a statement: ');
  await expect(overloaded).rejects.not.toBeInstanceOf(WhetstoneError);
  answer = [200, message('Said.')];
  expect(await writer.ask(prompt)).toEqual({ answer: '{"statement":"Said."}', costUsd: 1.05 });
  await expect(writer.ask(prompt)).rejects.toMatchObject({
    ...{ code: 'statement-not-written', message: expect.stringContaining('budget') },
  });
});

test('an option that names no model is refused', async () => {
  const { stderr, exitCode } = await mine('none', 'claude');
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining('Write openai/NAME, anthropic/NAME or google/NAME.'),
  ]);
});
