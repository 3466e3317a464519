// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the config
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startRemote } from './__fixtures__/context/remote.ts';
import { everything, makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project[Symbol.dispose]());

const SKILL = `---
name: brew-tea
description: How tea is brewed in this office. Use it whenever tea is asked for.
---
Boil water to 96 degrees, and write TEA.
`;

/** Does what it is told of tea, and only where it is told: reads the skill that is listed, then writes. */
const script = `export default {
  name: 'tea',
  play({ step, instructions, toolResults }) {
    const skill = /file: (\\S+brew-tea.SKILL\\.md)/.exec(instructions)?.[1];
    if (step === 0) return { calls: [{ tool: 'shell', command: skill ? 'cat ' + skill : 'ls' }] };
    if (step === 1) {
      const knows = toolResults.some(({ output }) => output.includes('96 degrees'));
      const rules = instructions.includes('Never drink coffee.') ? 'rules' : 'no rules';
      return { calls: [{ tool: 'write', path: 'RESULT', content: (knows ? 'tea' : 'no tea') + ', ' + rules + '\\n' }] };
    }
    return { text: 'Done.' };
  },
};
`;

test('what a variant declares reaches the agent, is not a change of the tree, and is read back', async () => {
  project = makeProject({
    files: { 'AGENTS.md': 'Drink coffee.\n' },
    tasks: [{ id: 'one', prompt: 'Make tea.', validation: { commands: ['cat RESULT AGENTS.md'] } }],
    config: {
      agents: { loop: { kind: 'loop', profile: 'anthropic' } },
      variants: {
        without: {},
        with: { instructions: 'Never drink coffee.\nDrink tea.\n', skills: ['skills/brew-tea'] },
        unread: { overlays: [{ source: 'rules.md', target: 'GEMINI.md' }] },
        ignored: { instructions: { file: 'rules.md', mode: 'replace' }, skills: ['skills/unread'] },
      },
      baseline: 'without',
      gateway: { mode: 'script', script: 'script.mjs' },
    },
  });
  project.write({
    'script.mjs': script,
    'rules.md': 'Some other rules.\n',
    'skills/brew-tea/SKILL.md': SKILL,
    'skills/unread/SKILL.md': '---\nname: unread\ndescription: Nobody needs it.\n---\n',
  });
  const ran = await project.whetstone(['run']);
  expect(ran).toMatchObject({ exitCode: 0 });

  const { rows, directory, manifest } = project.latest();
  const said = Object.fromEntries(
    rows.map((row) => {
      const output = row.validation_results[0]?.stdout_path ?? '';
      return [row.variant, readFileSync(join(directory, 'cases', row.case_id, output), 'utf8')];
    }),
  );
  expect(said).toEqual({
    without: 'no tea, no rules\nDrink coffee.\n',
    unread: 'no tea, no rules\nDrink coffee.\n',
    with: 'tea, rules\nDrink coffee.\n\nNever drink coffee.\nDrink tea.\n',
    ignored: 'no tea, no rules\nSome other rules.\n',
  });
  for (const row of rows) expect(row.touched_paths).toEqual(['RESULT']);

  const [without, withTea, unread, ignored] = rows;
  expect(without?.exposure).toBeUndefined();
  const calls = readFileSync(join(directory, 'cases', withTea?.case_id ?? '', 'model-calls.jsonl'), 'utf8');
  expect(withTea?.exposure).toEqual({
    instructions: {
      path: 'AGENTS.md',
      in_requests: 'whole',
      first_call: JSON.parse(calls.split('\n')[0] ?? '').id,
      read: null,
      tokens_estimate: 8,
    },
    skills: [
      {
        name: 'brew-tea',
        listed: true,
        triggered: 'confirmed',
        first: { event_index: expect.any(Number), at: expect.any(String), call_id: expect.any(String) },
        tokens_estimate: expect.any(Number),
      },
    ],
    mcp_servers: [],
    plugins: [],
  });
  const events = readFileSync(join(directory, 'cases', withTea?.case_id ?? '', 'events.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const { event_index: index = -1, call_id: callId } = withTea?.exposure?.skills[0]?.first ?? {};
  expect(events[index]).toMatchObject({ type: 'action.called', callId });
  expect(withTea?.exposure?.skills[0]?.tokens_estimate).toBeGreaterThan(20);
  expect(ignored?.exposure).toMatchObject({
    instructions: { in_requests: 'whole' },
    skills: [{ name: 'unread', listed: true, triggered: 'no', first: null, tokens_estimate: null }],
  });
  const agent = readFileSync(join(directory, 'cases', withTea?.case_id ?? '', 'agent.json'), 'utf8');
  expect(JSON.parse(agent).exposure).toEqual(withTea?.exposure);

  const inRequest = { path: 'AGENTS.md', in_first_request: 'whole' };
  expect(without?.instruction_files).toEqual([inRequest]);
  expect(withTea?.instruction_files).toEqual([inRequest]);
  expect(ignored?.instruction_files).toEqual([inRequest]);
  expect(unread?.instruction_files).toEqual([inRequest, { path: 'GEMINI.md', in_first_request: 'no' }]);
  expect(unread?.first_request).toBe(without?.first_request);
  expect(new Set(rows.map(({ first_request: request }) => request)).size).toBe(3);
  expect(ran.stderr).toContain('loop does not read the GEMINI.md of the variant unread.');
  const shown = await project.whetstone(['show', 'latest', unread?.case_id ?? '']);
  expect(shown.stdout).toContain('  AGENTS.md: whole\n  GEMINI.md: not in it\n');

  expect(manifest.variants.map(({ context }) => context)).toEqual([
    undefined,
    {
      instructions: createHash('sha256').update('Never drink coffee.\nDrink tea.\n').digest('hex'),
      instructions_mode: 'append',
      skills: [{ name: 'brew-tea', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      mcp_servers: [],
    },
    undefined,
    {
      instructions: createHash('sha256').update('Some other rules.\n').digest('hex'),
      instructions_mode: 'replace',
      skills: [{ name: 'unread', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      mcp_servers: [],
    },
  ]);
  const report = readFileSync(join(directory, 'report.md'), 'utf8');
  expect(report).toContain(
    'The skill unread of the variant ignored (agent loop) was triggered in 0 of 1 case.',
  );
  expect(report).not.toContain('The skill brew-tea');
  expect(report).toContain(
    'The first model request of loop was the same in unread as in without, in the task where both are known',
  );
  expect(report).not.toContain('the same in with as');
  expect(report).toContain('The instructions of the variant ignored replace AGENTS.md for loop.');
});

test('our loop gets MCP servers; one that does not start is reported, and the case continues', async () => {
  using remote = await startRemote();
  const fixtures = join(import.meta.dirname, '__fixtures__/context');
  project = makeProject({
    tasks: [{ id: 'one', prompt: 'Make tea.' }],
    config: {
      agents: { loop: { kind: 'loop', profile: 'openai' } },
      variants: {
        with: {
          mcp_servers: {
            glossary: {
              command: process.execPath,
              args: [join(fixtures, 'glossary.ts')],
              env: { EDITION: '${EDITION}' },
            },
            remote: { url: remote.url, headers: { 'X-Key': '${EDITION}' } },
            broken: { command: 'no-such-program-here' },
          },
        },
      },
      gateway: { mode: 'script', script: join(fixtures, 'script.mjs') },
    },
  });
  const ran = await project.whetstone(['run'], { EDITION: 'canary+edition/4711' });
  expect(ran).toMatchObject({ exitCode: 0 });
  const { rows, directory } = project.latest();
  const used = { first: expect.any(Object), tokens_estimate: expect.any(Number) };
  expect(rows).toMatchObject([
    {
      outcome: 'passed',
      changed_files: 0,
      exposure: {
        mcp_servers: [
          { name: 'glossary', offered: true, calls: 1, failures: 0, ...used },
          { name: 'remote', offered: true, calls: 0 },
          { name: 'broken', offered: false, calls: 0 },
        ],
      },
    },
  ]);
  expect([...remote.keys]).toEqual(['canary+edition/4711']);
  const caseOf = (file: string) =>
    readFileSync(join(directory, 'cases', rows[0]?.case_id ?? '', file), 'utf8');
  expect(JSON.parse(caseOf('agent.json'))).toMatchObject({
    mcp: [{ server: 'glossary', tool: 'lookup', status: 'completed' }],
    errors: [expect.stringMatching(/^The MCP server broken cannot be used: .*exit code 127/)],
  });
  for (const file of ['events.jsonl', 'stdout.log']) {
    expect(caseOf(file)).toContain('zebra: see the [masked] edition');
  }
  expect(everything(directory).includes('canary+edition/4711')).toBe(false);
});

test('another text of the instructions is another variant: a run is not resumed with it', async () => {
  project = makeProject({
    config: { variants: { only: { instructions: 'rules.md' } } },
    agents: { writer: 'cat AGENTS.md > seen' },
    tasks: [{ id: 'one', prompt: 'Go.', validation: { commands: ['grep -q "Rule one" seen'] } }],
  });
  project.write({ 'rules.md': 'Rule one.\n' });
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  project.write({ 'rules.md': 'Rule two.\n' });
  const { directory } = project.latest();
  const resumed = await project.whetstone(['run', '--resume', directory]);
  expect(resumed).toMatchObject({ exitCode: 2 });
  expect(resumed.stderr).toContain('variant only');
  expect(readFileSync(join(directory, 'report.md'), 'utf8')).toContain(
    'It is unknown whether a model saw the instructions',
  );
});

const POUR = '---\nname: pour-tea\ndescription: How tea is poured.\n---\nPour from 30 centimetres.\n';

/** Stands for Codex where only its surroundings matter: shows what it was given, and says that it is done. */
const CODEX = `#!/bin/sh
[ "$1" = --version ] && exec echo codex-cli 0.0.0
cat > /dev/null
cat "$HOME/.codex/config.toml" "$HOME/.codex/skills/brew-tea/SKILL.md" AGENTS.md >&2
cat "$HOME/.codex/plugins/cache/local/tea-house/local/skills/pour-tea/SKILL.md" >&2
echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
`;

test('an agent that Whetstone drives gets all of it, and what only a server may know is masked', async () => {
  project = makeProject({
    tasks: [{ id: 'one', prompt: 'Go.' }],
    config: {
      agents: { codex: { kind: 'codex-cli' } },
      variants: {
        with: {
          instructions: 'Be kind.\nBe brief.\n',
          skills: ['skills/brew-tea'],
          mcp_servers: { words: { command: './server.sh', env: { WORDS: '${MY_WORDS}' } } },
          plugins: ['plugins/house'],
        },
      },
      gateway: { mode: 'script', script: 'script.mjs' },
    },
  });
  project.write({
    'script.mjs': script,
    'server.sh': '#!/bin/sh\n',
    'skills/brew-tea/SKILL.md': SKILL,
    'plugins/house/.claude-plugin/plugin.json': '{ "name": "tea-house", "version": "1.2.0" }',
    'plugins/house/skills/pour-tea/SKILL.md': POUR,
    'bin/codex': CODEX,
  });
  chmodSync(join(project.root, 'bin/codex'), 0o755);
  const PATH = [join(project.root, 'bin'), process.env.PATH].join(delimiter);
  expect(await project.whetstone(['run'], { PATH })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('The MCP server words needs MY_WORDS'),
  });
  const ran = await project.whetstone(['run'], { PATH, MY_WORDS: 'canary+words/4711' });
  expect(ran).toMatchObject({ exitCode: 0 });
  const { rows, directory, manifest } = project.latest();
  const shown = readFileSync(join(directory, 'cases', rows[0]?.case_id ?? '', 'stderr.log'), 'utf8');
  expect(shown).toContain(`[mcp_servers.words]\ncommand = "${join(project.root, 'server.sh')}"`);
  expect(shown).toMatch(/"WORDS" = "[^"]+"/);
  expect(shown).toContain(`[plugins."tea-house@local"]\nenabled = true`);
  expect(shown).toContain(`${SKILL}Be kind.\nBe brief.\n${POUR}`);
  expect(everything(directory).includes('canary+words/4711')).toBe(false);
  expect(rows[0]?.exposure).toMatchObject({
    instructions: { in_requests: null, read: null },
    skills: [{ name: 'brew-tea', listed: null, triggered: 'no' }],
    mcp_servers: [{ name: 'words', offered: null, calls: 0 }],
    plugins: [{ name: 'tea-house', version: '1.2.0', loaded: null, skills: [{ name: 'pour-tea' }] }],
  });
  expect(manifest.variants[0]?.context?.plugins).toEqual([
    {
      name: 'tea-house',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      version: '1.2.0',
      description: null,
    },
  ]);
  expect(readFileSync(join(directory, 'report.md'), 'utf8')).toContain(
    'It is unknown whether the plugin tea-house of the variant with (agent codex) was loaded',
  );
  expect(rows[0]?.touched_paths).toEqual([]);

  project.write({ 'plugins/house/skills/pour-tea/SKILL.md': `${POUR}And slowly.\n` });
  const resumed = await project.whetstone(['run', '--resume', directory], { PATH, MY_WORDS: 'canary' });
  expect(resumed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('variant with') });
});
