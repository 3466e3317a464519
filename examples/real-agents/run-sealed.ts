import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { makeRepository } from '../demo/make-repository.ts';
import { programs } from './install.ts';

const root = join(import.meta.dirname, '../..');

export type SealedRow = {
  case_id: string;
  agent_name: string;
  outcome: string;
  evidence: string;
  network: string;
  model_calls: number;
  names_asked: string[] | null;
};

/** What a user has in the environment of these runs, under the names that agents look for. */
export const KEY = `sk-live-${randomBytes(20).toString('hex')}`;
const KEY_NAMES = ['ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GH_TOKEN', 'GITHUB_TOKEN', 'OPENAI_API_KEY'];

/** The run of the other tests, with one task, in another sandbox. `name`: of its folder. `directory`: of the run. */
export async function runSealed(
  name: string,
  agents: readonly string[],
  sandbox: string | object,
): Promise<{ rows: SealedRow[]; directory: string }> {
  const work = join(root, '.whetstone', name);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  makeRepository(join(work, 'plainly'));
  const yaml = readFileSync(join(import.meta.dirname, 'whetstone.yaml'), 'utf8');
  const config = join(import.meta.dirname, `whetstone.${name}.yaml`);
  writeFileSync(
    config,
    yaml
      .replaceAll('.whetstone/real-agents', `.whetstone/${name}`)
      // JSON is YAML.
      .replace('sandbox: process', `sandbox: ${JSON.stringify(sandbox)}`),
  );
  const selected = [...agents.flatMap((agent) => ['--agent', agent]), '--task-id', 'fix-truncate'];
  const args = ['run', '-c', config, '--jobs', '2', '--json', '--variant', 'with-rules', ...selected];
  const child = spawn(process.execPath, [join(root, 'packages/whetstone/bin/whetstone.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...Object.fromEntries(KEY_NAMES.map((variable) => [variable, KEY])),
      PATH: `${programs}${delimiter}${process.env.PATH}`,
    },
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  rmSync(config);
  const directory = join(work, 'runs', JSON.parse(output).run_id);
  const lines = readFileSync(join(directory, 'results.jsonl'), 'utf8').trim().split('\n');
  return { rows: lines.map((line) => JSON.parse(line)), directory };
}
