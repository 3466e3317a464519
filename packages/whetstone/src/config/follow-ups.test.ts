import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '@whetstone/agents/config';
import { leadsToGateway } from '@whetstone/agents/evaluator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { agentConfig } from '../../../agents/src/__fixtures__/attempt.ts';
import { fingerprintAgent, fingerprintTask } from '../plan/fingerprint.ts';
import { initRepo } from '../workspace/__fixtures__/git-folder.ts';
import { checkExecutables } from './check-executables.ts';
import type { Config } from './config.ts';
import { ConfigErrors } from './diagnostic.ts';
import { loadConfig } from './load-config.ts';

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'follow-ups-'));
  initRepo(project);
  writeFileSync(join(project, 'mine.ts'), 'export default {};\n');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

async function load(agent: Record<string, unknown>, task: Record<string, unknown>): Promise<Config> {
  const config = { repo: { path: '.' }, agents: { mine: agent }, variants: { only: {} } };
  writeFileSync(join(project, 'whetstone.yaml'), stringify(config));
  writeFileSync(
    join(project, 'tasks.yaml'),
    stringify({ tasks: [{ id: 'one', prompt: 'Do it.', ...task }] }),
  );
  const loaded = await loadConfig(join(project, 'whetstone.yaml'));
  expect(loaded.warnings).toEqual([]);
  return loaded.config;
}

async function problems(agent: Record<string, unknown>, task: Record<string, unknown>): Promise<string[]> {
  const failure: unknown = await load(agent, task).catch((error: unknown) => error);
  if (!(failure instanceof ConfigErrors)) throw failure;
  return failure.diagnostics.map(({ path, message, hint }) => `${path}: ${message} (${hint ?? ''})`);
}

const command = 'agent --session {session_id} < {prompt_file}';

describe('follow_ups of a task', () => {
  test.each([
    ['text', 'Go on.', 'tasks[one].follow_ups: expected a list'],
    ['a number', 3, 'tasks[one].follow_ups: expected a list'],
    ['an empty one', ['Go on.', ' '], 'tasks[one].follow_ups[1]: must not be empty'],
    ['a number in the list', [3], 'tasks[one].follow_ups[0]: expected text'],
    ['a mapping in the list', [{ prompt: 'Go on.' }], 'tasks[one].follow_ups[0]: expected text'],
  ])('refused: %s', async (_, followUps, message) => {
    const found = await problems({ kind: 'custom', command }, { follow_ups: followUps });
    expect(found).toEqual([expect.stringContaining(message)]);
  });

  test('count for the fingerprint, and an empty list counts as absent', async () => {
    const prints = [];
    for (const followUps of [undefined, null, [], ['Go on.'], ['Go on.', 'And on.']]) {
      const { tasks } = await load({ kind: 'custom', command }, { follow_ups: followUps });
      prints.push(tasks[0] && (await fingerprintTask(tasks[0])));
    }
    expect(prints[1]).toBe(prints[0]);
    expect(prints[2]).toBe(prints[0]);
    expect(new Set(prints).size).toBe(3);
  });

  const followUps = { follow_ups: ['Go on.'] };
  test.each([
    ['names the session', { kind: 'bub', command }],
    ['is a list that names it', { kind: 'custom', command: ['agent', '--session={session_id}'] }],
    [
      'has a command that resumes a session',
      { kind: 'claude-code', command: 'claude', resume_command: 'claude -c' },
    ],
    ['is driven', { kind: 'codex-cli' }],
    ['is a module, which says it once it is loaded', { kind: 'custom', module: 'mine.ts' }],
  ])('an agent whose command %s', async (_, agent) => {
    expect((await load(agent, followUps)).tasks).toMatchObject([{ followUps: ['Go on.'] }]);
  });

  test('a command that cannot resume a session is reported before anything runs', async () => {
    expect(await problems({ kind: 'coco', command: 'coco' }, followUps)).toEqual([
      'tasks[one].follow_ups: mine (kind: coco with a command) cannot resume a session (add {session_id} to its command, or add a resume_command)',
    ]);
  });
});

describe('resume_command', () => {
  test('is checked like the command', async () => {
    const agent = { kind: 'custom', command: 'agent', resume_command: 'agent --last {promt}' };
    expect(await problems(agent, {})).toEqual([
      expect.stringContaining('agents.mine.resume_command: unknown variable {promt} (did you mean {prompt}?'),
    ]);
  });

  test.each([
    ['a driven agent', { kind: 'codex-cli' }],
    ['a module', { kind: 'custom', module: 'mine.ts' }],
    ['the loop', { kind: 'loop', profile: 'openai' }],
  ])('is not for %s', async (_, agent) => {
    expect(await problems({ ...agent, resume_command: 'agent' }, {})).toEqual([
      expect.stringContaining('agents.mine.resume_command: only applies to agents with a command'),
    ]);
  });

  test('has a program that is looked for', async () => {
    const config = await load({ kind: 'custom', command: 'first', resume_command: 'second -x' }, {});
    const checks = await checkExecutables(
      { config, agentPath: (name) => ['agents', name] },
      { PATH: '/nowhere' },
    );
    expect(checks.map(({ path, executable }) => [path.join('.'), executable])).toEqual([
      ['agents.mine.command', 'first'],
      ['agents.mine.resume_command', 'second'],
    ]);
  });

  test('must lead to the gateway as well', () => {
    const shell = (script: string): Command => ({ kind: 'shell', script });
    const leads = (resume: string) =>
      leadsToGateway(
        agentConfig({ kind: 'coco', command: shell('coco {gateway_url}'), resumeCommand: shell(resume) }),
      );
    expect(leads('coco --last {gateway_url}')).toBe(true);
    expect(leads('coco --last')).toBe(false);
  });

  test('counts for the fingerprint', async () => {
    const agents = [
      { kind: 'custom', command },
      { kind: 'custom', command, resume_command: command },
    ];
    const prints = [];
    for (const agent of agents) {
      const [config] = (await load(agent, {})).agents;
      prints.push(config && (await fingerprintAgent(config)));
    }
    expect(prints[1]).not.toBe(prints[0]);
  });
});
