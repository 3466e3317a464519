import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from 'vitest';
import { makeRepository } from '../demo/make-repository.ts';
import { programs } from './install.ts';

const root = join(import.meta.dirname, '../..');
const work = join(root, '.whetstone/sealed-agents');
const agents = ['codex', 'claude-code', 'gemini-cli', 'qwen-code', 'opencode', 'pi', 'copilot'];

type Row = {
  case_id: string;
  agent_name: string;
  outcome: string;
  evidence: string;
  network: string;
  model_calls: number;
};

let rows: Row[];
let directory: string;

/** The run of the other tests, in the sandbox `bubblewrap`. */
beforeAll(async () => {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  makeRepository(join(work, 'plainly'));
  const yaml = readFileSync(join(import.meta.dirname, 'whetstone.yaml'), 'utf8');
  const config = join(import.meta.dirname, 'whetstone.sealed.yaml');
  writeFileSync(
    config,
    yaml
      .replaceAll('.whetstone/real-agents', '.whetstone/sealed-agents')
      .replace('sandbox: process', 'sandbox: bubblewrap'),
  );
  const selected = [...agents.flatMap((agent) => ['--agent', agent]), '--task-id', 'fix-truncate'];
  const args = ['run', '-c', config, '--jobs', '2', '--json', '--variant', 'with-rules', ...selected];
  const child = spawn(process.execPath, [join(root, 'packages/whetstone/bin/whetstone.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH}` },
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  rmSync(config);
  directory = join(work, 'runs', JSON.parse(output).run_id);
  const lines = readFileSync(join(directory, 'results.jsonl'), 'utf8').trim().split('\n');
  rows = lines.map((line) => JSON.parse(line));
});

test.each(agents)(
  '%s does its task with nothing but the gateway to reach',
  { tags: 'bubblewrap' },
  (agent) => {
    const row = rows.find(({ agent_name: name }) => name === agent);
    expect(row?.network).toBe('gateway-only');
    expect(row?.outcome, row?.evidence).not.toBe('error');
    expect(row?.model_calls).toBeGreaterThanOrEqual(2);
    const patch = readFileSync(join(directory, 'cases', row?.case_id ?? '', 'changes.patch'), 'utf8');
    expect(patch).toContain('+  if (text.length <= width) return text;');
  },
);
