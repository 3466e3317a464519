import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CaseRow } from '../record/row.ts';
import { makeProject, type Project, readLines } from './__fixtures__/project.ts';

/** Notes the session and the first line of each prompt, and checks that the prompt file holds the same prompt. */
const TALKER = `
first=$(printf '%s' "$1" | head -n 1)
printf '%s' "$1" | cmp - "$4" || exit 9
echo "$3 $first" >> turns.txt
echo "Heard: $first"
[ "$first" = Break. ] && echo broken >&2 && exit 4
[ "$first" = Wait. ] && sleep 60
true
`;

/** Counts its calls anew in every turn, as an agent does that is started anew. */
const MODULE = `
export default {
  name: 'counts',
  capabilities: { conversation: true },
  async send(input, { session, emit }) {
    if (input.text === 'Throw.') throw new Error('my own bug');
    if (!input.text.startsWith('Forget.')) session.id ??= 'session-1';
    emit({ type: 'action.called', callId: '1', name: 'shell', input: { command: 'ls' } });
    const events = [{ type: 'action.result', callId: '1', status: 'completed' }];
    return { events, status: 'completed', usage: { inputTokens: 10, outputTokens: 1 }, costUsd: 0.5 };
  },
};
`;

const talkerOf = (project: Project, script: string): string[] => [
  'sh',
  join(project.root, 'agents', `${script}.sh`),
  '{prompt}',
  '{output_dir}',
  '{session_id}',
  '{prompt_file}',
];

describe('several turns in one session', () => {
  let project: Project;
  let rows: CaseRow[];
  const rowOf = (agent: string, task: string) =>
    rows.find((row) => row.agent_name === agent && row.task_id === task);
  const fileOf = (agent: string, task: string, name: string) =>
    join(project.latest().directory, 'cases', rowOf(agent, task)?.case_id ?? '', name);
  const textOf = (agent: string, task: string, name: string) =>
    readFileSync(fileOf(agent, task, name), 'utf8');

  beforeAll(async () => {
    const heard = (count: number) => [
      `test "$(wc -l < turns.txt)" -eq ${count}`,
      'test "$(cut -d " " -f 1 turns.txt | sort -u | wc -l)" -eq 1',
    ];
    project = makeProject({
      tasks: [
        { id: 'one', prompt: 'First.', validation: { commands: heard(1) } },
        { id: 'two', prompt: 'First.', follow_ups: ['Second.'], validation: { commands: heard(2) } },
        {
          id: 'three',
          prompt: 'First.',
          follow_ups: ['Second.', 'Third.'],
          validation: { commands: heard(3) },
        },
        { id: 'breaks', prompt: 'First.', follow_ups: ['Break.', 'Third.'] },
        { id: 'waits', prompt: 'First.', follow_ups: ['Wait.', 'Third.'], timeout_seconds: 1 },
      ],
      agents: { talker: TALKER },
    });
    project.writeConfig({ agents: { talker: { kind: 'custom', command: talkerOf(project, 'talker') } } });
    await project.whetstone(['run', '--jobs', '2']);
    ({ rows } = project.latest());
  });
  afterAll(() => project[Symbol.dispose]());

  test.each([
    ['two', { turns: 2, turns_planned: 2 }],
    ['three', { turns: 3, turns_planned: 3 }],
  ])('the session goes on: %s', (task, turns) => {
    expect(rowOf('talker', task)).toMatchObject({ outcome: 'passed', status: 'completed', ...turns });
  });

  test('a task of one turn does not mention turns', () => {
    expect(rowOf('talker', 'one')).toMatchObject({ outcome: 'passed' });
    expect(rowOf('talker', 'one')).not.toHaveProperty('turns');
  });

  test.each([
    [
      'breaks',
      {
        ...{ failure_class: 'agent', status: 'agent_failed', agent_exit_code: 4 },
        evidence: 'turn 2 of 3: the agent did not complete: The agent ended with exit code 4.',
      },
    ],
    [
      'waits',
      {
        ...{ failure_class: 'timeout', status: 'timeout', timeout: true },
        evidence: 'turn 2 of 3: The agent was stopped at its time limit.',
      },
    ],
  ])('a turn that does not complete is the last: %s', (task, row) => {
    expect(rowOf('talker', task)).toMatchObject({ outcome: 'failed', turns: 2, turns_planned: 3, ...row });
    expect(textOf('talker', task, 'prompt.md')).not.toContain('Third.');
    expect(textOf('talker', task, 'changes.patch').match(/^\+[\w-]+ /gm)).toHaveLength(2);
  });

  test('the record has every prompt, all output, and each event with its turn', () => {
    expect(textOf('talker', 'three', 'prompt.md')).toMatch(
      /^First\.\n[\s\S]+\n\n--- turn 2 of 3 ---\n\nSecond\.\n\n--- turn 3 of 3 ---\n\nThird\.$/,
    );
    expect(textOf('talker', 'three', 'stdout.log')).toBe('Heard: First.\nHeard: Second.\nHeard: Third.\n');
    const events = readLines<StreamEvent>(fileOf('talker', 'three', 'events.jsonl'));
    const said = events.flatMap((event) => (event.type === 'message' ? [[event.turn, event.text]] : []));
    expect(said).toEqual([
      [0, 'Heard: First.'],
      [1, 'Heard: Second.'],
      [2, 'Heard: Third.'],
    ]);
  });

  test('show prints how many', async () => {
    const { stdout } = await project.whetstone(['show', 'latest', rowOf('talker', 'breaks')?.case_id ?? '']);
    expect(stdout).toMatch(/turns +2 of 3/);
  });
});

describe('several turns of a module', () => {
  let project: Project;
  const start = async (source: string, tasks: readonly Record<string, unknown>[]) => {
    project = makeProject({
      tasks,
      config: { agents: { mine: { kind: 'custom', module: 'agents/mine.ts' } } },
    });
    project.write({ 'agents/mine.ts': source });
    return await project.whetstone(['run']);
  };
  afterEach(() => project[Symbol.dispose]());

  test('usage is summed, calls stay distinct, and failures name their turn', async () => {
    await start(MODULE, [
      { id: 'sums', prompt: 'First.', follow_ups: ['Second.'] },
      { id: 'throws', prompt: 'First.', follow_ups: ['Throw.'] },
      { id: 'forgets', prompt: 'Forget.', follow_ups: ['Second.'] },
    ]);
    const { directory, rows } = project.latest();
    const harness = (evidence: string) => ({
      ...{ outcome: 'error', failure_class: 'harness' },
      evidence: expect.stringContaining(evidence),
    });
    const usage = { usage_source: 'agent', input_tokens: 20, output_tokens: 2, cost_usd: 1, tool_calls: 2 };
    expect(rows).toMatchObject([
      { outcome: 'passed', turns: 2, turns_planned: 2, ...usage },
      { ...harness('turn 2 of 2: Adapter counts failed: my own bug'), turns: 2, input_tokens: 10 },
      {
        ...harness('turn 1 of 2: Agent mine did not report a session id, so follow-ups cannot run.'),
        turns: 1,
      },
    ]);
    const folder = join(directory, 'cases', rows[0]?.case_id ?? '');
    const ids = readLines<StreamEvent>(join(folder, 'events.jsonl')).map((event) =>
      'callId' in event ? [event.turn, event.type, event.callId] : [],
    );
    expect(ids).toEqual([
      [0, 'action.called', '1'],
      [0, 'action.result', '1'],
      [1, 'action.called', '1#2'],
      [1, 'action.result', '1#2'],
    ]);
    expect(JSON.parse(readFileSync(join(folder, 'agent.json'), 'utf8')).tools).toMatchObject([
      { callId: '1', status: 'completed' },
      { callId: '1#2', status: 'completed' },
    ]);
  });

  test('a module without sessions stops the run before it costs anything', async () => {
    const tasks = [{ id: 'one', prompt: 'First.', follow_ups: ['Second.'] }];
    const ran = await start(MODULE.replace('conversation: true', ''), tasks);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('Task one has follow_ups, and agent mine cannot resume a session.');
    expect(project.runDirectories()).toEqual([]);
  });
});
