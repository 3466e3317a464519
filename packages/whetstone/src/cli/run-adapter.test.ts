import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import {
  everything,
  makeProgram,
  makeProject,
  type Project,
  type ProjectOptions,
  readLines,
} from './__fixtures__/project.ts';

const WHETSTONE = join(import.meta.dirname, '../..');
const EXAMPLES = join(WHETSTONE, '../../examples/adapters');
const ONE_TASK = [{ id: 'one', prompt: 'Do the thing.' }];

/** A project that has Whetstone installed, and one agent that is a module. */
function makeAdapterProject(agent: Record<string, unknown>, options: ProjectOptions = {}): Project {
  const config = { agents: { mine: { kind: 'custom', ...agent } }, ...options.config };
  const project = makeProject({ tasks: ONE_TASK, ...options, config });
  const installed = join(project.root, 'node_modules/whetstone');
  mkdirSync(dirname(installed));
  symlinkSync(WHETSTONE, installed);
  return project;
}

function eventsOf(project: Project): StreamEvent[] {
  const { directory, rows } = project.latest();
  return readLines(join(directory, 'cases', rows[0]?.case_id ?? '', 'events.jsonl'));
}

const ADAPTER = `
import { defineSandboxAgent, shared } from 'whetstone/adapter';
import { greeting } from './greeting.js'; // beside greeting.ts, as TypeScript wants it

export default defineSandboxAgent({
  name: 'its-own-name',
  async send(input, ctx): Promise<import('whetstone/adapter').Turn> {
    ctx.log('starting');
    const { stdout } = await ctx.sandbox.runShell('echo ' + greeting + ' >> README.md; echo "$MODE $TEAM_KEY"');
    await shared.injectO11yContext(ctx.sandbox, []);
    return {
      events: [
        { type: 'action.called', callId: '1', name: 'shell', input: { command: 'echo' } },
        { type: 'message', role: 'assistant', text: [input.text, ctx.model, stdout].join('|') },
      ],
      status: 'completed',
      usage: { inputTokens: 3, outputTokens: 2 },
    };
  },
});
`;

test.each([
  [[], { usage_source: 'agent', total_tokens: 5, telemetry_gaps: ['tool_calls_missing'] }],
  [
    ['usage_missing'],
    { usage_source: 'none', total_tokens: null, telemetry_gaps: ['usage_missing', 'tool_calls_missing'] },
  ],
])('calls are added up, unless some are said to be missing: %j', async (evidenceGaps, row) => {
  using project = makeAdapterProject({ module: 'mine.mjs' });
  const turn = {
    events: [{ type: 'usage', usage: { inputTokens: 3, outputTokens: 2 } }],
    status: 'completed',
    telemetry: { status: 'unavailable', source: 'none', evidenceGaps },
  };
  project.write({
    'mine.mjs': `export default { name: 'mine', capabilities: {}, send: async () => (${JSON.stringify(turn)}) };\n`,
  });
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  expect(project.latest().rows).toMatchObject([row]);
});

test('a module of the project is an agent', async () => {
  const env = { MODE: 'fast', TEAM_KEY: `\${TEAM_KEY}` };
  using project = makeAdapterProject(
    { module: 'agents/mine.ts', model: 'model-1', env },
    { config: { evaluation: { commands: ['grep hello README.md'] } } },
  );
  project.write({
    'agents/mine.ts': ADAPTER,
    'agents/greeting.ts': "export { greeting } from './words';\n",
    'agents/words.ts': "export const greeting: string = 'hello';\n",
  });
  const ran = await project.whetstone(['run'], { TEAM_KEY: 'sk-very-secret-1' });
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(project.latest().rows).toMatchObject([
    {
      ...{ outcome: 'passed', agent_name: 'mine', touched_paths: ['README.md'] },
      ...{ input_tokens: 3, output_tokens: 2, tool_calls: 1 },
    },
  ]);
  const events = eventsOf(project);
  expect(events.map(({ type }) => type)).toEqual(['raw', 'action.called', 'message', 'file.changed']);
  expect(events.at(2)).toMatchObject({ text: expect.stringContaining('Do the thing.') });
  expect(events.at(2)).toMatchObject({ text: expect.stringContaining('|model-1|fast [masked]') });

  const dry = await project.whetstone(['run', '--dry-run'], { TEAM_KEY: 'sk-very-secret-1' });
  expect(dry.stdout).toContain(
    `MODE=*** TEAM_KEY=*** (in process, loaded only by a run) ${project.root}/agents/mine.ts`,
  );
});

test('the HTTP example reaches its model through the lane', async () => {
  using project = makeAdapterProject(
    { module: join(EXAMPLES, 'http-agent.ts') },
    { config: { gateway: { mode: 'script', script: 'script.yaml' } } },
  );
  project.write({ 'script.yaml': 'name: hello\ndefault:\n  - text: Hello.\n' });
  const ran = await project.whetstone(['run']);
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(project.latest().rows).toMatchObject([
    { outcome: 'passed', usage_source: 'gateway', model_calls: 1 },
  ]);
  expect(eventsOf(project)).toMatchObject([{ type: 'message', text: 'Hello.' }, { type: 'usage' }]);
});

test.each([
  ['the right key', 'key-1', { outcome: 'passed', evidence: null }],
  [
    'a wrong key',
    'key-2',
    { failure_class: 'agent', evidence: expect.stringContaining('401 Unauthorized: who are you?') },
  ],
])('the HTTP example reaches a backend of its own: %s', async (_, key, row) => {
  const server = createServer((request, response) => {
    const known = request.headers.authorization === 'Bearer key-1';
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
    const answer = { choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }] };
    response.end(JSON.stringify(known ? answer : { error: { message: 'who are you?' } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  using project = makeAdapterProject({ module: join(EXAMPLES, 'http-agent.ts') });
  await project.whetstone(['run'], { AGENT_BASE_URL: url, AGENT_API_KEY: key });
  server.close();
  expect(project.latest().rows).toMatchObject([row]);
});

test('the sandbox example drives a command line and reads its transcript', async () => {
  using project = makeAdapterProject({ module: join(EXAMPLES, 'sandbox-agent.ts'), model: 'm' });
  const bin = join(project.root, 'bin');
  makeProgram(
    join(bin, 'tiny-agent'),
    `mkdir -p ~/.tiny-agent/sessions/today
cat > ~/.tiny-agent/sessions/today/s1.jsonl <<'END'
{"kind":"session","session":"s1"}
{"kind":"ran","id":"1","command":"ls","output":"README.md"}
END
printf '{"kind":"said","text":"%s"}\\n' "$2" >> ~/.tiny-agent/sessions/today/s1.jsonl`,
  );
  const ran = await project.whetstone(['run'], { PATH: `${bin}:${process.env.PATH}` });
  expect(ran.exitCode).toBe(0);
  expect(eventsOf(project)).toMatchObject([
    { type: 'raw' },
    { type: 'action.called', name: 'shell' },
    { type: 'action.result', output: 'README.md' },
    { type: 'message', text: 'm' },
  ]);
  expect(project.latest().rows).toMatchObject([{ outcome: 'passed', tool_calls: 1 }]);
});

test.each([
  ['exports no agent', 'export default { name: "x" };', 'the default export is not an agent'],
  ['fails when it is loaded', 'throw new Error("broken at the start");', 'broken at the start'],
  ['needs what is not there', "import './no-such-thing.js';", 'no-such-thing.js'],
  ['has an enum', 'enum Kind { A }', 'Remove enums, namespaces and parameter properties'],
  ['does not parse', 'const one: number = 1 +;', 'Run the module with `node` to see where it fails'],
  ['needs a package', "import '@/no-such-thing';", 'Node does not read the paths of tsconfig.json'],
  ['imports a type', "import { Agent } from 'whetstone/adapter';", 'import it with `import type`'],
])('a module that %s stops the run before it costs anything', async (_, source, message) => {
  using project = makeAdapterProject({ module: 'agents/mine.ts' });
  project.write({ 'agents/mine.ts': source });
  const ran = await project.whetstone(['run']);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain(message);
  expect(ran.stderr).toContain('agents.mine.module');
  expect(project.runDirectories()).toEqual([]);
});

// In a process of its own: one that has loaded evals finds Whetstone without a project.
test('a project without Whetstone gets a hint how to install it', async () => {
  using project = makeProject({ config: { agents: { mine: { kind: 'custom', module: 'agents/mine.ts' } } } });
  project.write({ 'agents/mine.ts': ADAPTER, 'agents/greeting.ts': "export const greeting: string = 'hi';" });
  const ran = await project.start(['run']).finished;
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('npm install --save-dev whetstone');
});

test('an adapter that throws is an error of the harness, with what it threw', async () => {
  using project = makeAdapterProject({ module: 'agents/mine.ts' });
  project.write({
    'agents/mine.ts': "export default { name: 'x', send() { throw new Error('my own bug'); } };",
  });
  const ran = await project.whetstone(['run']);
  expect(ran.exitCode).toBe(1);
  expect(project.latest().rows).toMatchObject([
    {
      ...{ outcome: 'error', failure_class: 'harness', evidence: expect.stringContaining('my own bug') },
      // It ran, and nobody saw what it used.
      ...{
        total_tokens: null,
        telemetry_gaps: ['usage_missing', 'model_calls_missing', 'tool_calls_missing'],
      },
    },
  ]);
});

const CARELESS = `
import { defineSandboxAgent, requireEnv } from 'whetstone/adapter';

export default defineSandboxAgent({
  name: 'careless',
  async send(input, ctx) {
    const key = requireEnv('TEAM_ACCESS');
    const env = { MY_TOKEN: 'token-of-the-adapter', PLAIN: 'plain-value' };
    const shown = await ctx.sandbox.runShell('echo "$MY_TOKEN $PLAIN" | tee leaked.txt', { env });
    const text = [key, shown.stdout, process.env.MISTRAL_API_KEY].join(' ');
    return { events: [{ type: 'message', role: 'assistant', text }], status: 'completed' };
  },
});
`;

test('secrets that only the adapter and the environment know are masked in all that is kept', async () => {
  using project = makeAdapterProject({ module: 'mine.ts' });
  project.write({ 'mine.ts': CARELESS });
  const env = { TEAM_ACCESS: 'access-of-the-team', MISTRAL_API_KEY: 'key-of-the-shell' };
  const finished = await project.whetstone(['run'], env);
  expect(finished.exitCode, finished.stderr).toBe(0);
  expect(eventsOf(project)).toContainEqual(
    expect.objectContaining({ text: '[masked] [masked] plain-value\n [masked]' }),
  );
  const kept = everything(project.latest().directory).toString();
  for (const secret of [...Object.values(env), 'token-of-the-adapter']) expect(kept).not.toContain(secret);
});
