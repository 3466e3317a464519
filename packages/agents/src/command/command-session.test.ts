import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentConfig, startAttempt, type TestAttempt } from '../__fixtures__/attempt.ts';
import type { Turn } from '../agent.ts';
import type { AgentConfig, Command } from '../config.ts';
import { promptOf, type SceneName } from '../contract/__fixtures__/scene.ts';
import { fakePrograms } from '../contract/__fixtures__/stage.ts';
import { createAgent } from '../create-agent.ts';

const argv = (...words: string[]): Command => ({ kind: 'argv', argv: words });
const telemetry = { file: 'telemetry.json', environmentVariable: 'TELEMETRY_FILE' } as const;

type Session = { attempt: TestAttempt; turns: Turn[]; ids: (string | undefined)[] };

/** Plays the scenes as turns of one session. The caller disposes of the attempt. */
async function playTurns(
  attempt: TestAttempt,
  config: Partial<AgentConfig>,
  scenes: readonly SceneName[] = ['task', 'task'],
): Promise<Session> {
  const agent = await createAgent(agentConfig(config), { environment: {}, hasLanes: true });
  const session: TestAttempt['context']['session'] = { isNew: true };
  const played: Session = { attempt, turns: [], ids: [] };
  for (const [index, scene] of scenes.entries()) {
    const text = promptOf({ scene, token: `token-${index + 1}` });
    await writeFile(attempt.context.files.promptFile, text);
    played.turns.push(await agent.send({ text }, { ...attempt.context, session }));
    played.ids.push(session.id);
    session.isNew = false;
  }
  return played;
}

const seenIn = async ({ sandbox }: TestAttempt, turn: number) =>
  JSON.parse(await sandbox.readFile(`seen-token-${turn}.json`));

test.each([
  ['codex-cli', 'none'],
  ['codex-cli', 'codex-jsonl'],
  ['claude-code', 'none'],
] as const)(
  '%s with the collector %s: the second turn resumes the id that the agent reported, and its usage is its own',
  async (kind, collector) => {
    await using attempt = await startAttempt('', {}, await fakePrograms());
    const { turns, ids } = await playTurns(attempt, {
      kind,
      telemetry: { ...telemetry, collector },
      command: argv('fake-agent', kind, '--prompt-file', '{prompt_file}'),
      resumeCommand: argv('fake-agent', kind, '--prompt-file', '{prompt_file}', 'resume', '{session_id}'),
    });
    const { session } = await seenIn(attempt, 1);
    expect(ids).toEqual([session, session]);
    expect(await seenIn(attempt, 2)).toMatchObject({ session, resumed: session });
    expect(turns.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(turns[1]?.usage).toEqual(turns[0]?.usage);
    expect(turns[1]?.telemetry).toEqual(turns[0]?.telemetry);
    expect(JSON.stringify(turns[1]?.events)).not.toContain('token-1');
  },
);

test('the stored stream has both Codex turns', async () => {
  await using attempt = await startAttempt('', {}, await fakePrograms());
  const command = argv('fake-agent', 'codex-cli', '--prompt-file', '{prompt_file}');
  const collected = { ...telemetry, collector: 'codex-jsonl', file: 'codex.jsonl' } as const;
  await playTurns(attempt, { kind: 'codex-cli', telemetry: collected, command, resumeCommand: command });
  const kept = await readFile(join(attempt.context.files.outputDir, 'codex.jsonl'), 'utf8');
  expect(kept).toContain('token-1');
  expect(kept).toContain('token-2');
});

test.each([['--version'], ['a b'], ['$(touch pwned)'], [`x${'y'.repeat(300)}`]])(
  'a session id that could be an option or code is ignored: %j',
  async (sessionId) => {
    await using attempt = await startAttempt('');
    const stream = `{{"type":"thread.started","thread_id":${JSON.stringify(sessionId)}}}`;
    const { ids } = await playTurns(attempt, {
      kind: 'codex-cli',
      command: argv('printf', '%s\\n', stream),
      resumeCommand: argv('true'),
    });
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[1]).toBe(ids[0]);
  },
);

test('each turn has its own telemetry file', async () => {
  await using attempt = await startAttempt('');
  const script = (tokens: number) => `printf '{{"total_tokens": ${tokens}}}' > {telemetry_file}`;
  const { turns } = await playTurns(
    attempt,
    {
      telemetry: { ...telemetry, collector: 'json-file' },
      command: { kind: 'shell', script: script(3) },
      resumeCommand: {
        kind: 'shell',
        script: `case {prompt} in *token-2*) ;; *) ${script(5)} ;; esac`,
      },
    },
    ['task', 'task', 'task'],
  );
  expect(turns.map((turn) => turn.telemetry?.totalTokens)).toEqual([3, undefined, 5]);
  expect(turns[1]?.telemetry?.evidenceGaps).toEqual(['telemetry_file_missing', 'tool_calls_missing']);
  const { outputDir } = attempt.context.files;
  expect(await readFile(join(outputDir, 'telemetry-3.json'), 'utf8')).toBe('{"total_tokens": 5}');
});

test('a tape without new events adds no events', async () => {
  await using attempt = await startAttempt('', {}, await fakePrograms());
  const { turns } = await playTurns(attempt, {
    kind: 'bub',
    command: argv('fake-agent', 'bub', '--prompt-file', '{prompt_file}'),
    resumeCommand: argv('echo', 'nothing on tape'),
  });
  expect(turns[1]?.telemetry?.evidenceGaps).toEqual(['transcript_missing', 'tool_calls_missing']);
  expect(turns[1]?.events).toMatchObject([
    { type: 'session.started' },
    { type: 'message', text: 'nothing on tape' },
  ]);
});

test('an agent that cannot resume does not support conversations', async () => {
  const agent = await createAgent(agentConfig({ command: argv('true') }), {
    environment: {},
    hasLanes: true,
  });
  expect(agent.capabilities.conversation).toBe(false);
});
