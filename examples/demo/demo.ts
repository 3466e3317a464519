/**
 * `npm run demo`: makes a small Git repository and runs the main job on it, with a script instead of the model.
 * `npm run demo -- --live` runs the same configuration against a real model, with the key in OPENAI_API_KEY or
 * ANTHROPIC_API_KEY.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { makeRepository } from './make-repository.ts';

const root = join(import.meta.dirname, '../..');
const work = join(root, '.whetstone/demo');
const live = process.argv.includes('--live');

rmSync(work, { recursive: true, force: true });
makeRepository(join(work, 'plainly'));

const config = live ? writeLiveConfig() : join(import.meta.dirname, 'whetstone.yaml');
const run = await whetstone(
  'run',
  '-c',
  config,
  '--trials',
  live ? '1' : '2',
  '--jobs',
  '2',
  ...liveAgents(),
);
if (run !== 0 && run !== 1) process.exit(run);

console.log(`
What to look at next (whetstone is: npm run --silent whetstone --):
  whetstone show latest -c ${relative(root, config)} CASE     one case: its outcome and where its files are
  whetstone report latest -c ${relative(root, config)}        the report in Markdown; also --format json, csv, junit
  ${relative(process.cwd(), join(work, 'runs'))}/                        the run directory: patches, logs, events, model calls`);

/** Runs the command line like a user. Some cases of the demo fail on purpose, so exit code 1 is right. */
async function whetstone(...args: string[]): Promise<number> {
  const bin = join(root, 'packages/whetstone/bin/whetstone.js');
  const child = spawn(process.execPath, [bin, ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code ?? 3;
}

/** The demo's configuration without the script: the agents then talk to their providers. */
function writeLiveConfig(): string {
  const yaml = readFileSync(join(import.meta.dirname, 'whetstone.yaml'), 'utf8');
  const file = join(import.meta.dirname, 'whetstone.live.yaml');
  writeFileSync(file, yaml.replace(/^gateway:\n(?: .*\n)+/m, ''));
  process.on('exit', () => rmSync(file, { force: true }));
  return file;
}

/** The agents whose provider's key is set. */
function liveAgents(): string[] {
  if (!live) return [];
  const agents = [
    ...(process.env.OPENAI_API_KEY ? ['loop-openai'] : []),
    ...(process.env.ANTHROPIC_API_KEY ? ['loop-anthropic'] : []),
  ];
  if (agents.length === 0) {
    console.error('Set OPENAI_API_KEY or ANTHROPIC_API_KEY to run the demo against a real model.');
    process.exit(2);
  }
  return agents.flatMap((agent) => ['--agent', agent]);
}
