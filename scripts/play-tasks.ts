/**
 * `npm run play:tasks -- FOLDER... --repo DIR`: runs each mined task once through a released agent, in a sandbox and with the
 * verdict of a run. No key: the gateway's script plays the patch of the task, so each task has to pass.
 *
 * Exit codes: 0 every task passed; 1 one did not; 2 wrong usage.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type DrivenAgentKind, drivenAgents } from '@whetstone/agents/config';
import { installAgent } from '@whetstone/agents/install';
import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { KNOWN_MODELS } from '../examples/real-agents/drive-agent.ts';
import { environmentKeys, installOf } from '../packages/whetstone/src/cli/tasks-environment.ts';
import { readTaskFolder, taskFoldersIn } from '../packages/whetstone/src/config/read-task-file.ts';
import type { CaseRow } from '../packages/whetstone/src/record/row.ts';
import { needsScripts } from '../packages/whetstone/src/tasks/mining-journal.ts';
import { type GoldTask, goldScript } from './play-tasks/gold-script.ts';

const HELP = `Usage: npm run play:tasks -- FOLDER... --repo DIR [options]

Runs each task of the folders once through a released agent. No key is needed: the gateway plays the
patch of the task, so each task has to pass.

Options:
  --repo DIR         the repository of the tasks
  --agent KIND       ${Object.keys(drivenAgents).join(', ')} (default: pi)
  --prepare COMMAND  as of \`whetstone tasks mine\`; repeat it for several
  --jobs N           cases at the same time (default: 1)
  -h, --help         this text`;

const BIN = join(import.meta.dirname, '../packages/whetstone/bin/whetstone.js');

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      repo: { type: 'string' },
      agent: { type: 'string', default: 'pi' },
      prepare: { type: 'string', multiple: true, default: [] },
      jobs: { type: 'string', default: '1' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const { repo, agent, prepare, jobs } = values;
  if (values.help || repo === undefined || positionals.length === 0 || !Object.hasOwn(drivenAgents, agent)) {
    process.stderr.write(`${HELP}\n`);
    return values.help ? 0 : 2;
  }
  const kind = agent as DrivenAgentKind;
  await installAgent(drivenAgents[kind]);
  const folders = positionals.map((folder) => resolve(folder));
  const absent = [repo, ...positionals].find((path) => !existsSync(path));
  if (absent !== undefined) {
    process.stderr.write(`There is no folder ${absent}.\n`);
    return 2;
  }
  // On Ctrl-C the run ends by itself, and then this program removes its files.
  process.on('SIGINT', () => {});
  const project = mkdtempSync(join(tmpdir(), 'whetstone-play-'));
  try {
    await writeProject(project, { repo: resolve(repo), kind, prepare, folders });
    const run = ['run', '--jobs', jobs];
    const { status } = spawnSync(process.execPath, [BIN, ...run], { cwd: project, stdio: ['ignore', 2, 2] });
    const rows = rowsOf(project);
    if (rows.length === 0) return status || 1;
    process.stdout.write(`${tableOf(rows)}\n`);
    return rows.every(({ outcome }) => outcome === 'passed') ? 0 : 1;
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

type Played = { repo: string; kind: DrivenAgentKind; prepare: string[]; folders: string[] };

async function writeProject(project: string, { repo, kind, prepare, folders }: Played): Promise<void> {
  const tasks: GoldTask[] = [];
  for (const folder of folders.flatMap(taskFoldersIn)) {
    const { prompt, goldPatch } = await readTaskFolder(folder);
    if (goldPatch === undefined) throw new Error(`${folder} has no gold_patch`);
    tasks.push({ prompt, patch: readFileSync(goldPatch, 'latin1') });
  }
  const needs = await Promise.all(folders.map(needsScripts));
  const install = installOf({ prepare, setup: [] }, repo, { scriptsAreNeeded: needs.includes(true) });
  const config = {
    repo: { path: repo },
    ...(install.commands.length > 0 && { environment: environmentKeys(install) }),
    agents: { [kind]: { kind, model: KNOWN_MODELS[kind], timeout_minutes: 10 } },
    tasks: 'tasks.yaml',
    variants: { baseline: {} },
    gateway: { mode: 'script', script: 'gold.mjs' },
    output_dir: 'runs',
  };
  writeFileSync(join(project, 'whetstone.yaml'), JSON.stringify(config));
  writeFileSync(join(project, 'tasks.yaml'), JSON.stringify({ include: folders }));
  writeFileSync(join(project, 'gold.mjs'), goldScript(tasks));
}

function rowsOf(project: string): CaseRow[] {
  const runs = join(project, 'runs');
  if (!existsSync(runs)) return []; // the run did not start, and has said why
  const [run] = readdirSync(runs).filter((name) => /^\d/.test(name));
  if (run === undefined) return [];
  const lines = readFileSync(join(runs, run, 'results.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);
  return lines.map((line): CaseRow => JSON.parse(line));
}

function tableOf(rows: readonly CaseRow[]): string {
  const lines = rows.map(({ outcome, task_id, evidence }) =>
    [outcome.padEnd(6), task_id, ...(outcome === 'passed' ? [] : [`: ${evidence}`])].join(' '),
  );
  const passed = rows.filter(({ outcome }) => outcome === 'passed').length;
  return [
    ...lines,
    '',
    `${passed} of ${rows.length} tasks passed (${basename(rows[0]?.agent_name ?? '')})`,
  ].join('\n');
}

/** What the user can mend is said in a sentence. */
function explain(error: unknown): number {
  if (!(error instanceof WhetstoneError) && !codeOf(error)?.startsWith('ERR_PARSE_ARGS')) throw error;
  process.stderr.write(`${messageOf(error)}\n`);
  return 2;
}

process.exitCode = await main().catch(explain);
