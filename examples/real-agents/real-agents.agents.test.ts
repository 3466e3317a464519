import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeRepository } from '../demo/make-repository.ts';
import { programs } from './install.ts';

const root = join(import.meta.dirname, '../..');
const work = join(root, '.whetstone/real-agents');

type Row = {
  case_id: string;
  agent_name: string;
  task_id: string;
  variant: string;
  outcome: string;
  touched_paths: string[];
  usage_source: string;
  model_calls: number;
  telemetry_status: string;
  telemetry_gaps: string[];
  tool_calls: number;
  models: string[];
};

/** The end of each agent's output. */
const lastLines = {
  codex: '"type":"turn.completed"',
  'claude-code': '"type":"result"',
  'gemini-cli': '"type":"result"',
  'qwen-code': '"type":"result"',
  opencode: '"type":"step_finish"',
  pi: '"type":"agent_end"',
  copilot: '"type":"result"',
  'codex-command': '"type":"turn.completed"',
};
const agents = Object.keys(lastLines);
/** One that the script does, and one that it gets wrong. */
const tasks = ['fix-truncate', 'fix-duration'];
const selected = tasks.flatMap((task) => ['--task-id', task]);

describe('released agents through the gateway’s script', () => {
  let rows: Row[];
  let directory: string;

  beforeAll(async () => {
    rmSync(work, { recursive: true, force: true });
    makeRepository(join(work, 'plainly'));
    const config = join(import.meta.dirname, 'whetstone.yaml');
    const child = spawn(
      process.execPath,
      [
        join(root, 'packages/whetstone/bin/whetstone.js'),
        'run',
        '-c',
        config,
        '--jobs',
        '2',
        '--json',
        ...selected,
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH}` },
      },
    );
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    directory = join(work, 'runs', JSON.parse(output).run_id);
    rows = readFileSync(join(directory, 'results.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  });

  const kept = (row: Row, file: string) => readFileSync(join(directory, 'cases', row.case_id, file), 'utf8');
  const of = (agent: string) => rows.filter((row) => row.agent_name === agent);

  test.each(agents)('%s finished every case, and none was an infrastructure error', (agent) => {
    expect(of(agent)).toHaveLength(4);
    expect(of(agent).filter((row) => row.outcome === 'error')).toEqual([]);
  });

  // Gemini CLI reads GEMINI.md, and nothing of this variant's AGENTS.md.
  const readers = agents.filter((agent) => agent !== 'gemini-cli');
  test.each(readers)('%s follows the rule where it stands, and its work passes the clean room', (agent) => {
    const done = of(agent).find((row) => row.variant === 'with-rules' && row.task_id === 'fix-truncate');
    expect(done?.outcome).toBe('passed');
    expect(done?.touched_paths).toContain('CHANGELOG.md');
  });

  test.each(agents)('%s fails the task that the script gets wrong', (agent) => {
    const failed = of(agent).filter((row) => row.task_id === 'fix-duration');
    expect(failed.map((row) => row.outcome)).toEqual(['failed', 'failed']);
  });

  test('the patches are what the agents really changed', () => {
    for (const row of rows.filter(({ task_id: task }) => task === 'fix-truncate')) {
      expect(kept(row, 'changes.patch')).toContain('+  if (text.length <= width) return text;');
    }
  });

  test.each(Object.entries(lastLines))('the transcripts of %s are kept as it wrote them', (agent, line) => {
    for (const row of of(agent)) expect(kept(row, 'stdout.log')).toContain(line);
  });

  test('every model call was counted on the wire, as the agents count themselves', () => {
    for (const row of rows) {
      expect(row.usage_source).toBe('gateway');
      const calls = kept(row, 'model-calls.jsonl').trim().split('\n');
      expect(calls.length).toBeGreaterThanOrEqual(row.model_calls);
      expect(row.model_calls).toBeGreaterThanOrEqual(4);
      expect(row.telemetry_gaps, row.agent_name).not.toContain('usage_mismatch');
    }
  });

  test.each(agents)('the record of %s has what those of the others have', (agent) => {
    for (const row of of(agent)) {
      const record = JSON.parse(kept(row, 'agent.json'));
      expect(record).toMatchObject({
        ...{ sandbox: 'process', network: 'open', approvalPolicy: 'never' },
        runtimeVersion: expect.stringMatching(/^\d+\.\d+/),
        // The files of Gemini CLI leave out the call that chooses a model, so it does not know how many there were.
        modelCalls: agent === 'gemini-cli' ? null : row.model_calls,
      });
      expect(record.fileChanges.map(({ path }: { path: string }) => path).sort()).toEqual(
        row.touched_paths.toSorted(),
      );
      expect(record.models.toSorted(), agent).toEqual(row.models.toSorted());
      for (const { command } of record.commands) expect(command).not.toMatch(/^\S*sh -l?c /);
    }
  });

  test('what an agent prints is understood whole', () => {
    for (const row of rows) {
      expect(row.telemetry_gaps, row.agent_name).toEqual([]);
      expect(row.tool_calls).toBeGreaterThanOrEqual(3);
    }
  });

  test('the telemetry of the command of one’s own was collected', () => {
    expect(of('codex-command').map((row) => row.telemetry_status)).toEqual(Array(4).fill('collected'));
  });
});
