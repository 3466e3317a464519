import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { expect, test } from 'vitest';
import { makeProject, type Project, readLines } from './__fixtures__/project.ts';

const WHETSTONE = join(import.meta.dirname, '../..');
const SECRET = 'sk-of-the-team-0123456789';

const SCHEMA = `{
  "type": "object",
  "properties": { "verdict": { "enum": ["good", "bad"] }, "why": { "type": "string" } },
  "required": ["verdict"],
  "additionalProperties": false
}`;

/** Changes what the clean room runs, too: a file that would put another answer in the place of its own. */
const adapter = (data: string, capabilities = 'structuredOutput: true, conversation: true') => `
import { defineSandboxAgent } from 'whetstone/adapter';
export default defineSandboxAgent({
  name: 'judge',
  capabilities: { ${capabilities} },
  async send(input, ctx) {
    ctx.session.id = 'the-session';
    const asked = input.outputSchema ? 'asked for ' + input.outputSchema.required : 'asked for nothing';
    const { stdout } = await ctx.sandbox.runShell('env; echo \\'echo forged > "$WHETSTONE_OUTPUT_DATA"; rm -rf "$(dirname "$WHETSTONE_OUTPUT_DATA")"\\' > forge.sh; echo $TEAM_KEY');
    const seen = stdout.includes('WHETSTONE_OUTPUT_DATA') ? 'sees the answer' : 'sees nothing';
    const key = stdout.trim().split('\\n').at(-1);
    return {
      events: [{ type: 'message', role: 'assistant', text: asked + ', ' + seen }],
      status: 'completed',
      data: ${data},
    };
  },
});
`;

const SCRIPT = `export default {
  name: 'judge',
  play: ({ step }) => step === 0 ? { calls: [{ tool: 'shell', command: 'ls' }] } : { data: { verdict: 'good' } },
};
`;

const ANSWER = 'grep -q \'"verdict":"good"\' "$WHETSTONE_OUTPUT_DATA"';
const TASK = {
  id: 'one',
  prompt: 'Judge.',
  output_schema: 'answer.json',
  validation: { commands: [ANSWER, 'test ! -f forge.sh || sh forge.sh', ANSWER] },
  hard_evaluation: { command_checks: [{ label: 'answered', command: ANSWER }] },
};

function makeJudges(
  agents: Record<string, string>,
  options: { config?: object; task?: object } = {},
): Project {
  const entry = (name: string) => ({
    kind: 'custom',
    module: `agents/${name}.ts`,
    env: { TEAM_KEY: `\${TEAM_KEY}` },
  });
  const modules = Object.fromEntries(Object.keys(agents).map((name) => [name, entry(name)]));
  const project = makeProject({
    tasks: [{ ...TASK, ...options.task }],
    config: { agents: modules, ...options.config },
  });
  for (const [name, module] of Object.entries(agents)) project.write({ [`agents/${name}.ts`]: module });
  project.write({ 'answer.json': SCHEMA, 'script.mjs': SCRIPT });
  const installed = join(project.root, 'node_modules/whetstone');
  mkdirSync(dirname(installed));
  symlinkSync(WHETSTONE, installed);
  return project;
}

function casesOf(project: Project) {
  const { directory, rows } = project.latest();
  return new Map(
    rows.map((row) => {
      const files = join(directory, 'cases', row.case_id);
      const answer = join(files, 'output-data.json');
      return [
        row.agent_name,
        {
          row,
          answer: existsSync(answer) ? JSON.parse(readFileSync(answer, 'utf8')) : undefined,
          events: readLines<StreamEvent>(join(files, 'events.jsonl')),
        },
      ];
    }),
  );
}

test.concurrent('an answer that fits is kept, and each validation command gets its own copy', async () => {
  using project = makeJudges({
    honest: adapter(`{ verdict: 'good', why: 'It has ' + key }`),
    wrong: adapter(`{ verdict: 'bad' }`),
    misshapen: adapter(`{ verdict: 'good', why: 3 }`),
    silent: adapter('undefined'),
  });
  const { exitCode, stderr } = await project.whetstone(['run', '--jobs', '2'], { TEAM_KEY: SECRET });
  expect(exitCode, stderr).toBe(1);
  const cases = casesOf(project);
  expect(cases.get('honest')).toMatchObject({
    row: {
      outcome: 'passed',
      hard_evaluation_status: 'passed',
      artifact_notes: ['output-data.json: secrets were masked'],
    },
    answer: { verdict: 'good', why: 'It has [masked]' },
    events: expect.arrayContaining([expect.objectContaining({ text: 'asked for verdict, sees nothing' })]),
  });
  expect(cases.get('wrong')).toMatchObject({
    row: { outcome: 'failed', failure_class: 'agent', status: 'validation_failed' },
    answer: { verdict: 'bad' },
  });
  for (const [agent, why] of [
    ['misshapen', '/why must be string'],
    ['silent', 'there is none'],
  ] as const) {
    const message = `its answer does not fit output_schema: ${why}`;
    const { row, answer, events } = cases.get(agent) ?? {};
    expect(row).toMatchObject({ outcome: 'failed', failure_class: 'agent', status: 'agent_failed' });
    expect(row?.evidence).toContain(message);
    expect(answer).toBeUndefined();
    expect(events).toContainEqual(expect.objectContaining({ type: 'error', source: 'host', message }));
  }
});

test.concurrent('our own loop is given the schema, with any model family', async () => {
  const profiles = ['openai', 'anthropic', 'gemini'];
  const agents = Object.fromEntries(profiles.map((profile) => [profile, { kind: 'loop', profile }]));
  const gateway = { mode: 'script', script: 'script.mjs' };
  using project = makeJudges({}, { config: { agents, gateway } });
  const { exitCode, stderr } = await project.whetstone(['run', '--jobs', '2']);
  expect(exitCode, stderr).toBe(0);
  for (const [, { row, answer }] of casesOf(project)) {
    expect(row).toMatchObject({ outcome: 'passed' });
    expect(answer).toEqual({ verdict: 'good' });
  }
});

test.concurrent('only the last of several turns gets the schema', async () => {
  using project = makeJudges(
    { honest: adapter(`input.outputSchema && { verdict: 'good' }`) },
    { task: { follow_ups: ['And now?'] } },
  );
  const { exitCode, stderr } = await project.whetstone(['run'], { TEAM_KEY: SECRET });
  expect(exitCode, stderr).toBe(0);
  const { row, answer, events = [] } = casesOf(project).get('honest') ?? {};
  expect({ outcome: row?.outcome, answer }).toEqual({ outcome: 'passed', answer: { verdict: 'good' } });
  const said = events.flatMap((event) => (event.type === 'message' ? event.text : []));
  expect(said).toEqual(['asked for nothing, sees nothing', 'asked for verdict, sees nothing']);
});

test.concurrent('an adapter that does not declare the capability is refused before anything runs', async () => {
  using project = makeJudges({ plain: adapter('undefined', '') });
  const { exitCode, stderr } = await project.whetstone(['run'], { TEAM_KEY: SECRET });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Task one has output_schema, and agent plain cannot be given an output schema.');
  expect(project.runDirectories()).toEqual([]);
});
