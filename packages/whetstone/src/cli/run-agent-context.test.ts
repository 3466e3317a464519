// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the config
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { everything, makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project[Symbol.dispose]());

const SKILL = '---\nname: brew-tea\ndescription: How tea is brewed.\n---\nBoil water.\n';
const context = { instructions: 'TRAE.md', skills: '~/.trae/skills', mcp_servers: '.trae/mcp.json' };

/** An agent that copies what it finds where it looks into its work. */
const LOOK =
  'cat TRAE.md .trae-missing "$HOME/.trae/skills/brew-tea/SKILL.md" "$HOME/.trae/mcp.json" > RESULT; :';

const adapter = `export default {
  name: 'mine',
  capabilities: { workspace: true },
  async send(_, { sandbox }) {
    await sandbox.runShell(${JSON.stringify(LOOK)});
    return { events: [], status: 'completed' };
  },
};
`;

test('a command and a module get what a variant declares at the places that they name', async () => {
  project = makeProject({
    tasks: [{ id: 'one', prompt: 'Make tea.', validation: { commands: ['cat RESULT'] } }],
    config: {
      agents: {
        trae: { kind: 'traecli', command: LOOK, context },
        mine: { kind: 'custom', module: 'mine.mjs', context },
      },
      variants: {
        with: {
          instructions: 'Be kind.\nAlways.\n',
          skills: ['skills/brew-tea'],
          mcp_servers: {
            glossary: { command: 'node', args: ['--version'], env: { KEY: '${GLOSSARY_KEY}' } },
            remote: { url: 'https://example.com/mcp', headers: { 'X-Team': 'tea' } },
          },
        },
      },
    },
  });
  project.write({ 'skills/brew-tea/SKILL.md': SKILL, 'mine.mjs': adapter });
  const ran = await project.whetstone(['run'], { GLOSSARY_KEY: 'a-secret-of-the-team' });
  expect(ran).toMatchObject({ exitCode: 0 });

  const { rows, directory } = project.latest();
  expect(rows).toHaveLength(2);
  for (const row of rows) {
    const output = row.validation_results[0]?.stdout_path ?? '';
    const found = readFileSync(join(directory, 'cases', row.case_id, output), 'utf8');
    const said = `Be kind.\nAlways.\n${SKILL}`;
    expect(found.startsWith(said)).toBe(true);
    expect(JSON.parse(found.slice(said.length))).toEqual({
      mcpServers: {
        glossary: { command: 'node', args: ['--version'], env: { KEY: '[masked]' } },
        remote: { type: 'http', url: 'https://example.com/mcp', headers: { 'X-Team': 'tea' } },
      },
    });
    expect(row.touched_paths).toEqual(['RESULT']);
  }
  // The agent had the key; nothing that is kept has.
  expect(everything(directory)).not.toContain('a-secret-of-the-team');
});

test('a declaration that cannot be placed is reported before anything runs', async () => {
  project = makeProject({
    tasks: [{ id: 'one', prompt: 'Make tea.' }],
    config: {
      agents: {
        loop: { kind: 'loop', profile: 'openai', context },
        away: { kind: 'custom', command: 'true', context: { instructions: '../up.md', skils: 'x' } },
        bare: { kind: 'custom', command: 'true' },
      },
      variants: { with: { skills: ['skills/brew-tea'] } },
    },
  });
  project.write({ 'skills/brew-tea/SKILL.md': SKILL });
  const { exitCode, stderr } = await project.whetstone(['run', '--dry-run']);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/agents\.loop\.context: only applies to agents with a command or a module/);
  expect(stderr).toMatch(/agents\.away\.context\.instructions: .*leaves the tree/);
  expect(stderr).toMatch(/skils/);
  expect(stderr).toMatch(/bare \(kind: custom with a command\)/);
  expect(stderr).toContain('context: { skills: … }');
});
