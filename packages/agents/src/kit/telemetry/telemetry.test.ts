import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import { agentConfig, startAttempt, type TestAttempt } from '../../__fixtures__/attempt.ts';
import type { Turn } from '../../agent.ts';
import type { AgentConfig } from '../../config.ts';
import { createAgent } from '../../create-agent.ts';

async function sendTo(attempt: TestAttempt, config: Partial<AgentConfig>): Promise<Turn> {
  const agent = await createAgent(agentConfig(config), { environment: {}, hasLanes: true });
  return agent.send({ text: 'do it' }, attempt.context);
}

describe('json-file', () => {
  const telemetry = {
    collector: 'json-file',
    file: 'deep/telemetry.json',
    environmentVariable: 'TELEMETRY_FILE',
  } as const;
  const runWith = async (content: string): Promise<Turn> => {
    await using attempt = await startAttempt('do it');
    const script =
      'mkdir -p {output_dir}/deep; [ "$TELEMETRY_FILE" = {telemetry_file} ] && cat > {telemetry_file} << END';
    return await sendTo(attempt, {
      telemetry,
      command: { kind: 'shell', script: `${script}\n${content.replaceAll(/[{}]/g, '$&$&')}\nEND` },
    });
  };

  test('reads all fields', async () => {
    const fields = {
      agent_duration_seconds: 1.5,
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      reasoning_tokens: 2,
      cached_input_tokens: 4,
      reasoning_step_count: 1,
      tool_calls_by_name: { shell: 2, edit: 1 },
      command_call_count: 2,
      model_name: 'm',
      unknown: 'ignored',
    };
    const { telemetry: found, usage } = await runWith(JSON.stringify(fields));
    expect(usage).toEqual({ inputTokens: 6, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 });
    expect(found).toEqual({
      status: 'collected',
      source: 'json-file',
      agentDurationSeconds: 1.5,
      promptTokens: 10,
      cachedInputTokens: 4,
      completionTokens: 5,
      totalTokens: 15,
      reasoningTokens: 2,
      reasoningStepCount: 1,
      toolCallCount: 3,
      toolCallsByName: { shell: 2, edit: 1 },
      commandCallCount: 2,
      modelName: 'm',
      evidenceGaps: [],
    });
  });

  test.each([
    ['good and bad fields', '{"prompt_tokens": 3, "total_tokens": -1, "completion_tokens": true}', 'partial'],
    ['bad fields only', '{"prompt_tokens": "3"}', 'error'],
    ['no known field', '{"model": "x"}', 'unavailable'],
    ['not an object', '[1]', 'error'],
    ['not JSON', 'tokens: 3', 'error'],
  ])('%s', async (_, content, status) => {
    const turn = await runWith(content);
    expect(turn.telemetry).toMatchObject({ status, source: 'json-file' });
    expect(turn.status).toBe('completed');
  });

  test('reports a missing file', async () => {
    await using attempt = await startAttempt('do it');
    const turn = await sendTo(attempt, { telemetry, command: { kind: 'argv', argv: ['true'] } });
    expect(turn.telemetry).toMatchObject({
      status: 'unavailable',
      evidenceGaps: ['telemetry_file_missing', 'tool_calls_missing'],
    });
  });

  test.each([
    [15, []],
    [900, ['usage_mismatch']],
  ])('the events of a known agent count, not the file: %i tokens in the file', async (total, gaps) => {
    await using attempt = await startAttempt('do it');
    const part = { reason: 'stop', tokens: { input: 10, output: 5, reasoning: 0 } };
    const printed = { type: 'step_finish', timestamp: 1, sessionID: 's', part };
    await writeFile(join(attempt.workdir, 'printed'), JSON.stringify(printed));
    await writeFile(join(attempt.workdir, 'counted'), JSON.stringify({ total_tokens: total }));
    const script = 'mkdir {output_dir}/deep; cp counted {telemetry_file}; cat printed';
    const turn = await sendTo(attempt, {
      kind: 'opencode-cli',
      telemetry,
      command: { kind: 'shell', script },
    });
    expect(turn).toMatchObject({ status: 'completed', usage: { inputTokens: 10, outputTokens: 5 } });
    expect(turn.events.map(({ type }) => type)).toContain('usage');
    expect(turn.telemetry).toMatchObject({ totalTokens: total, evidenceGaps: gaps });
  });

  test('a link to a file elsewhere is not followed', async () => {
    await using attempt = await startAttempt('do it');
    await writeFile(join(attempt.folder, 'private.json'), '{"prompt_tokens": 3}');
    await symlink(attempt.folder, join(attempt.context.files.outputDir, 'link'));
    const turn = await sendTo(attempt, {
      telemetry: { ...telemetry, file: 'link/private.json' },
      command: { kind: 'argv', argv: ['true'] },
    });
    expect(turn.telemetry).toMatchObject({ status: 'error' });
    expect(turn.telemetry?.promptTokens).toBeUndefined();
  });
});

describe('codex-jsonl', () => {
  const telemetry = {
    collector: 'codex-jsonl',
    file: 'codex-events.jsonl',
    environmentVariable: null,
  } as const;
  const runOn = async (
    lines: readonly (object | string)[],
    options = '',
    exitCode = 0,
  ): Promise<[Turn, string]> => {
    await using attempt = await startAttempt('do it');
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    await writeFile(join(attempt.folder, 'stream'), text);
    const script = `cat ${attempt.folder}/stream; : codex exec --json ${options}; exit ${exitCode}`;
    const turn = await sendTo(attempt, { kind: 'codex-cli', telemetry, command: { kind: 'shell', script } });
    const eventsFile = await readFile(join(attempt.context.files.outputDir, 'codex-events.jsonl'), 'utf8');
    expect(eventsFile).toBe(text);
    return [turn, attempt.workdir];
  };
  const usage = {
    input_tokens: 100,
    cached_input_tokens: 60,
    cache_write_input_tokens: 10,
    output_tokens: 20,
    reasoning_output_tokens: 5,
  };
  const item = (id: string, fields: object, type = 'item.completed') => ({ type, item: { id, ...fields } });

  test('reads a whole turn', async () => {
    const command = { type: 'command_execution', command: "/bin/bash -lc 'ls'" };
    const [turn] = await runOn(
      [
        { type: 'thread.started', thread_id: 'thread-1' },
        { type: 'turn.started' },
        item('0', { type: 'reasoning', text: 'Looking.' }),
        item(
          '1',
          { ...command, aggregated_output: '', exit_code: null, status: 'in_progress' },
          'item.started',
        ),
        item('1', { ...command, aggregated_output: 'a\nb\n', exit_code: 0, status: 'completed' }),
        item('2', { ...command, aggregated_output: 'no', exit_code: 2, status: 'failed' }),
        item('3', {
          type: 'mcp_tool_call',
          server: 'docs',
          tool: 'find',
          arguments: { q: 'x' },
          result: 'found',
          status: 'completed',
        }),
        item('4', {
          type: 'file_change',
          changes: [
            { path: 'a.txt', kind: 'add' },
            { path: 'b.txt', kind: 'update' },
          ],
          status: 'completed',
        }),
        item('5', {
          type: 'todo_list',
          items: [
            { text: 'first', completed: true },
            { text: 'second', completed: false },
          ],
        }),
        item('6', { type: 'something_new', value: 1 }),
        item('7', { type: 'agent_message', text: 'Done.' }),
        { type: 'turn.completed', usage },
      ],
      '-m "gpt-5.5"',
    );
    expect(turn.status).toBe('completed');
    expect(turn.usage).toEqual({
      inputTokens: 30,
      cacheReadTokens: 60,
      cacheWriteTokens: 10,
      outputTokens: 20,
      reasoningTokens: 5,
    });
    expect(turn.telemetry).toEqual({
      status: 'collected',
      source: 'codex-jsonl',
      promptTokens: 100,
      cachedInputTokens: 60,
      completionTokens: 20,
      totalTokens: 120,
      reasoningTokens: 5,
      toolCallCount: 4,
      toolCallsByName: { command_execution: 2, 'mcp:docs/find': 1, file_change: 1 },
      commandCallCount: 2,
      modelName: 'gpt-5.5',
      evidenceGaps: [],
    });
    expect(replyText(turn.events)).toBe('Done.');
    const metadata = deriveAgentMetadata(turn.events, turn.facts);
    expect(metadata).toMatchObject({
      sessionId: 'thread-1',
      runtime: 'codex-cli',
      usage: turn.usage,
      commands: [
        { callId: '1', command: 'ls', exitCode: 0, status: 'completed' },
        { callId: '2', exitCode: 2, status: 'failed' },
      ],
      mcp: [{ callId: '3', server: 'docs', tool: 'find', status: 'completed' }],
      fileChanges: [
        { path: 'a.txt', change: 'added' },
        { path: 'b.txt', change: 'modified' },
      ],
    });
    expect(turn.events.filter(({ type }) => type === 'raw')).toHaveLength(1);
    expect(turn.events.find(({ type }) => type === 'plan.updated')).toMatchObject({
      steps: [{ text: 'first', status: 'completed' }, { status: 'pending' }],
    });
  });

  test('a failed turn has failed, and its message does not set a provider error', async () => {
    const message = 'exceeded retry limit, last status: 429 Too Many Requests';
    const [turn] = await runOn(
      [{ type: 'turn.started' }, { type: 'turn.failed', error: { message } }],
      '',
      1,
    );
    expect(turn).toMatchObject({ status: 'failed', exit: { exitCode: 1, message } });
    expect(turn.exit).not.toHaveProperty('providerError');
    expect(turn.telemetry).toMatchObject({ status: 'partial', error: message });
  });

  test('an error before the end of the turn does not end it', async () => {
    const [turn] = await runOn([
      { type: 'error', message: 'Reconnecting... 1/5' },
      { type: 'turn.completed', usage },
    ]);
    expect(turn.status).toBe('completed');
  });

  test('the usage of a thread grows, and each turn adds only what is new', async () => {
    const second = { ...usage, input_tokens: 250, output_tokens: 50 };
    const [turn] = await runOn([
      { type: 'turn.completed', usage },
      { type: 'turn.completed', usage: second },
    ]);
    expect(deriveAgentMetadata(turn.events).usage).toEqual(turn.usage);
    expect(turn.usage).toMatchObject({ inputTokens: 180, outputTokens: 50 });
  });

  test('reports what is missing', async () => {
    const [nothing] = await runOn([]);
    expect(nothing.telemetry).toMatchObject({
      status: 'unavailable',
      evidenceGaps: [
        'codex_events_empty',
        'codex_usage_missing',
        'codex_model_missing',
        'tool_calls_missing',
        'codex_final_message_missing',
      ],
    });
    expect(nothing.telemetry).not.toHaveProperty('toolCallCount');
    const [broken] = await runOn(
      ['not json', '{"type":', '[]', { type: 'turn.completed' }],
      '-o missing.txt --model=m',
    );
    expect(broken.telemetry).toMatchObject({
      status: 'partial',
      modelName: 'm',
      evidenceGaps: [
        'codex_events_malformed',
        'codex_usage_missing',
        'codex_final_message_missing',
        'codex_output_last_message_missing',
      ],
    });
    expect(broken.status).toBe('completed');
    const nested = `sh -c 'codex --model "m n"' --output-last-message "{output_dir}"/none.txt`;
    const [silent] = await runOn([{ type: 'turn.completed', usage }], nested);
    expect(silent.telemetry).toMatchObject({
      modelName: 'm n',
      evidenceGaps: ['codex_final_message_missing', 'codex_output_last_message_missing'],
    });
  });

  test('a link in place of the events file is not followed', async () => {
    await using attempt = await startAttempt('do it');
    const victim = join(attempt.folder, 'victim');
    await writeFile(victim, 'untouched');
    const script = `ln -s ${victim} {output_dir}/codex-events.jsonl; echo '{{"type":"turn.completed"}}'`;
    const turn = await sendTo(attempt, { telemetry, command: { kind: 'shell', script } });
    expect(await readFile(victim, 'utf8')).toBe('untouched');
    expect(turn).toMatchObject({ status: 'completed', telemetry: { status: 'error' } });
  });
});
