import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptStep } from '@whetstone/gateway';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AgentSettings } from './drive-agent.ts';
import { CANARY, makeOutside } from './outside-folder.ts';
import { native, openSteps } from './play-steps.ts';

const open = (settings: AgentSettings = {}, extra = {}) =>
  openSteps({ kind: 'claude-agent-sdk', settings, ...extra });

let outside: string;
beforeEach(() => {
  outside = makeOutside();
});
afterEach(() => rmSync(outside, { recursive: true }));

test('what lies outside the workspace is neither read nor written, by any path that leads there', async () => {
  await using session = await open();
  const { workspace } = session;
  symlinkSync(outside, join(workspace, 'folder-link'));
  symlinkSync(join(outside, 'secret.txt'), join(workspace, 'file-link'));
  symlinkSync(join(outside, 'new.txt'), join(workspace, 'dangling-link'));
  const up = '../'.repeat(12);
  const attempts: ScriptStep[] = [
    native('Read', { file_path: join(outside, 'secret.txt') }),
    native('Read', { file_path: join(workspace, up, outside, 'secret.txt') }),
    native('Read', { file_path: join(workspace, 'file-link') }),
    native('Read', { file_path: join(workspace, 'folder-link/secret.txt') }),
    native('Read', { file_path: '~/.claude/.credentials.json' }),
    native('Write', { file_path: join(outside, 'new.txt'), content: 'x' }),
    native('Write', { file_path: join(workspace, 'dangling-link'), content: 'x' }),
    native('Write', { file_path: join(workspace, 'folder-link/new.txt'), content: 'x' }),
    native('Bash', { command: `cat ${outside}/secret.txt` }),
  ];
  const { turn, metadata, asked } = await session.play(attempts);
  expect(turn.status).toBe('completed');
  expect(asked).not.toContain(CANARY);
  expect(readdirSync(outside)).toEqual(['secret.txt']);
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(`${CANARY}\n`);
  // One refusal has one shape: the call is rejected, and one decision says by which rule.
  expect(metadata.tools.map(({ name, status }) => `${name} ${status}`)).toEqual(
    attempts.map(({ calls: [call] = [] }) => `${call?.tool === 'native' ? call.name : ''} rejected`),
  );
  expect(metadata.approvals).toHaveLength(attempts.length);
  for (const approval of metadata.approvals) {
    expect(approval).toMatchObject({
      decision: 'denied',
      by: 'policy',
      rule: expect.stringMatching(/^permissions\.(filesystem|shell): /),
    });
  }
});

test('a read-only agent reads the repository and changes nothing', async () => {
  await using session = await open({ permissions: { filesystem: 'read-only', shell: 'off' } });
  const { turn, metadata, asked } = await session.play([
    native('Read', { file_path: 'README.md' }),
    native('Write', { file_path: 'new.txt', content: 'x' }),
  ]);
  expect(turn.status).toBe('completed');
  expect(metadata.tools.map(({ name, status }) => [name, status])).toEqual([
    ['Read', 'completed'],
    ['Write', 'rejected'],
  ]);
  expect(metadata.approvals.at(-1)).toMatchObject({ rule: 'permissions.filesystem: read-only' });
  expect(await session.files()).toEqual({ 'README.md': 'Greetings.\n' });
  expect(metadata.fileChanges).toEqual([]);
  // Without a shell and a network, the model does not even see their tools.
  const [first = ''] = asked.split('"messages"');
  for (const name of ['Bash', 'WebFetch', 'WebSearch']) expect(asked).not.toContain(`"name":"${name}"`);
  expect(first.length).toBeGreaterThan(0);
});

test('a question is not answered, and that allows no other tool', async () => {
  await using session = await open();
  const option = (label: string) => ({ label, description: label });
  const questions = [
    { question: 'Which?', header: 'Which', options: [option('A'), option('B')], multiSelect: false },
  ];
  const { metadata } = await session.play([
    native('AskUserQuestion', { questions }),
    native('Bash', { command: 'touch made.txt' }),
  ]);
  expect(metadata.approvals).toMatchObject([
    { decision: 'denied', rule: 'default' },
    { decision: 'denied', rule: 'permissions.shell: ask' },
  ]);
  expect(Object.keys(await session.files())).toEqual(['README.md']);
});

test.each([{ sources: [] }, { sources: ['project'] }])(
  'hooks of the repository never run, with setting_sources: $sources',
  async ({ sources }) => {
    const touched = (name: string) => join(outside, name);
    const hook = (name: string) => [{ hooks: [{ type: 'command', command: `touch ${touched(name)}` }] }];
    const settings = { hooks: { SessionStart: hook('started'), PreToolUse: hook('tool') } };
    await using session = await open(
      { options: { setting_sources: sources } },
      {
        extra: { files: { '.claude/settings.json': JSON.stringify(settings), 'CLAUDE.md': 'Rule 4711.\n' } },
      },
    );
    const { turn, asked } = await session.play([native('Read', { file_path: join(outside, 'secret.txt') })]);
    expect(turn.status).toBe('completed');
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(asked.includes('Rule 4711.')).toBe(sources.includes('project'));
    // The hook of the host still decides.
    expect(asked).not.toContain(CANARY);
  },
);

test('a rule accepts commands, which see only the variables that the agent was given', async () => {
  process.env.SOMETHING_OF_THE_USER = CANARY;
  try {
    await using session = await open(
      { policy: [{ allow: { command: 'env' } }] },
      { extra: { env: { GIVEN: 'given-value' } } },
    );
    const { metadata, asked } = await session.play([
      native('Bash', { command: 'env' }),
      native('Bash', { command: 'env; touch made.txt' }),
      native('Read', { file_path: '/proc/self/environ' }),
    ]);
    expect(asked).toContain('GIVEN=given-value');
    expect(asked).not.toContain(CANARY);
    expect(metadata.approvals).toMatchObject([
      { decision: 'approved', rule: 'allow {command: "env"}' },
      { decision: 'denied', rule: 'permissions.shell: ask' },
    ]);
    expect(metadata.commands.map(({ status }) => status)).toEqual(['completed', 'rejected']);
    expect(existsSync(join(session.workspace, 'made.txt'))).toBe(false);
  } finally {
    delete process.env.SOMETHING_OF_THE_USER;
  }
});

test('a turn that reaches its limit fails, and keeps its usage and its session', async () => {
  await using session = await open({ options: { max_turns: 1 } });
  const { turn, sessionId, calls } = await session.play([native('Read', { file_path: 'README.md' })]);
  expect(turn).toMatchObject({ status: 'failed', exit: { message: expect.stringMatching(/turns/) } });
  expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
  expect(turn.usage?.inputTokens).toBe(calls.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0));
});

test('a budget ends a turn that costs more', async () => {
  await using session = await open({ options: { max_budget_usd: 0.000_001 } });
  const { turn } = await session.play([native('Read', { file_path: 'README.md' })]);
  expect(turn).toMatchObject({ status: 'failed', exit: { message: expect.stringMatching(/budget/i) } });
});

test('a second turn remembers the first, in its session or in a fork of it', async () => {
  for (const fork_session of [false, true]) {
    await using session = await open({ options: { fork_session } });
    const first = await session.play([], { prompt: 'My number is 4711.' });
    const second = await session.play([], { prompt: 'Which number?' });
    expect(second.turn.status).toBe('completed');
    expect(second.asked).toContain('My number is 4711.');
    expect(second.sessionId === first.sessionId).toBe(!fork_session);
    // Each turn has its own usage.
    const wire = second.calls.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0);
    expect(second.turn.usage?.inputTokens).toBe(wire);
  }
});

test('`continue` resumes the newest session of the workspace, without its id', async () => {
  for (const isContinued of [false, true]) {
    await using session = await open({ options: { continue: isContinued } });
    const first = await session.play([], { prompt: 'My number is 4711.' });
    const second = await session.play([], { prompt: 'Which number?', restarts: 'without-id' });
    expect(second.turn.status).toBe('completed');
    expect(second.asked.includes('My number is 4711.')).toBe(isContinued);
    expect(second.sessionId === first.sessionId).toBe(isContinued);
  }
});

test('a sub-agent of the configuration works under the same rules', async () => {
  const looker = { description: 'Looks.', prompt: 'CHILD: look.', tools: ['Read'] };
  await using session = await open({ options: { agents: { looker } } });
  const delegation = { description: 'Look', prompt: 'Look there.', subagent_type: 'looker' };
  const { turn, metadata, asked } = await session.play(({ userText }) =>
    userText.includes('Look there.')
      ? [native('Read', { file_path: join(outside, 'secret.txt') })]
      : [native('Agent', { ...delegation, run_in_background: false })],
  );
  expect(turn.status).toBe('completed');
  expect(asked).not.toContain(CANARY);
  expect(metadata.approvals.some(({ decision }) => decision === 'denied')).toBe(true);
  expect(turn.events.map(({ type }) => type)).toContain('subagent.completed');
});

test('the model is asked as the options say', async () => {
  const agents = { looker: { description: 'Looks.', prompt: 'I look.', tools: ['Read'] } };
  const budgets = { thinking: { budget_tokens: 2048 }, task_budget_tokens: 20_000 };
  const preset = { preset: 'claude_code', append: 'Be brief.', exclude_dynamic_sections: true };
  const plan = { permission_mode: 'plan', plan_mode_instructions: 'Plan the tea.', system_prompt: preset };
  const asThought = '"thinking":{"budget_tokens":2048,"type":"enabled"';
  for (const [options, given] of [
    [{ agents, agent: 'looker', ...budgets }, ['I look.', asThought, '"type":"tokens","total":20000']],
    [{ thinking: 'disabled', ...plan }, ['Plan the tea.', 'Be brief.', '"thinking":{"type":"disabled"}']],
  ] as const) {
    await using session = await open({ options });
    const { turn, asked } = await session.play([]);
    expect(turn.status).toBe('completed');
    for (const text of given) expect(asked).toContain(text);
    expect(asked.includes('"name":"Write"')).toBe(!('agent' in options));
  }
});

test('an agent that Claude Code does not have is a failure with a reason', async () => {
  await using session = await open({ options: { agent: 'nobody' } });
  const { turn } = await session.play([]);
  expect(turn).toMatchObject({
    status: 'failed',
    exit: { message: expect.stringMatching(/Claude Code has no agent nobody. It has: .*general-purpose/) },
  });
});

test('parts of messages are only printed when they are asked for', async () => {
  for (const include_partial_messages of [false, true]) {
    await using session = await open({ options: { include_partial_messages } });
    const { printed, turn } = await session.play([]);
    expect(printed.some(({ type }) => type === 'stream_event')).toBe(include_partial_messages);
    expect(turn.events.filter(({ type }) => type === 'message')).toHaveLength(1);
  }
});
