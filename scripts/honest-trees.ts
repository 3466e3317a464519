/**
 * `node scripts/honest-trees.ts FOLDER [NAME...]`: mines tasks of public repositories, plays honest work on each with masked
 * tests, and prints how often the verdict was wrong, as Markdown.
 *
 * Honest work is the patch of the commit, the same patch written in another way, the same patch with one small error, and none
 * at all. The first two have to pass; the others may fail, but nobody may be called a cheat.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { choose } from '../packages/whetstone/src/audit/changes/choose.ts';
import { mutateSource } from '../packages/whetstone/src/audit/changes/mutate-source.ts';
import { refactorSource } from '../packages/whetstone/src/audit/changes/refactor-source.ts';
import { solutionWith } from '../packages/whetstone/src/audit/play-changes.ts';
import { openSolvedTree, type SolvedTree } from '../packages/whetstone/src/audit/solved-tree.ts';
import { environmentOf, installOf } from '../packages/whetstone/src/cli/tasks-environment.ts';
import type { TaskConfig } from '../packages/whetstone/src/config/config.ts';
import { readTaskFolder, TASK_FILE } from '../packages/whetstone/src/config/read-task-file.ts';
import { openSourceParser } from '../packages/whetstone/src/syntax/source-parser.ts';
import { maskTask } from '../packages/whetstone/src/tasks/mask-task.ts';
import { openTaskRoom, type TaskRoom } from '../packages/whetstone/src/tasks/task-room.ts';
import type { Work } from '../packages/whetstone/src/verify/judge-work.ts';
import { listTests } from '../packages/whetstone/src/verify/list-tests.ts';
import { maskFacts } from '../packages/whetstone/src/verify/verify.ts';
import { type HonestTask, type HonestVerdict, honestTable } from './honest-trees/honest-table.ts';
import { type PublicRepository, publicRepositories } from './honest-trees/public-repositories.ts';

const HELP = `Usage: node scripts/honest-trees.ts FOLDER [NAME...]

Mines tasks of public repositories, plays honest work on each with masked tests, and prints how often
the verdict was wrong, as Markdown. It takes hours. FOLDER keeps the clones, what they need, the tasks
and the results, so the same command resumes where it was stopped. With NAMEs, only these repositories:
${publicRepositories.map(({ name }) => `  ${name}`).join('\n')}
`;

const root = join(import.meta.dirname, '..');
const { folder, names } = parsedArguments();
const results = join(folder, 'results.jsonl');
const { signal } = new AbortController();
/** Of so many tasks of a repository, all kinds of honest work are played, and of the others only the patch. */
const OTHERS = 3;
const parse = await openSourceParser();

function parsedArguments(): { folder: string; names: string[] } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  });
  const [folder, ...names] = positionals;
  const unknown = names.find((name) => !publicRepositories.some((one) => one.name === name));
  if (values.help || folder === undefined || unknown !== undefined) {
    if (unknown !== undefined) process.stderr.write(`There is no repository ${unknown} in the list.\n\n`);
    process.stderr.write(HELP);
    process.exit(values.help ? 0 : 2);
  }
  return { folder: resolve(folder), names };
}

type Honest = { kind: HonestVerdict['kind']; work: Work };

mkdirSync(folder, { recursive: true });
for (const repository of publicRepositories) {
  if (names.length > 0 && !names.includes(repository.name)) continue;
  const clone = cloneOf(repository);
  const tasks = mine(repository, clone);
  await playAll(repository, clone, tasks);
}
console.log(honestTable(played()));

function played(): HonestTask[] {
  const text = existsSync(results) ? readFileSync(results, 'utf8') : '';
  return text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
}

/** A clone of its commit, with what its tests need beside it. */
function cloneOf({ name, commit, install }: PublicRepository): string {
  const clone = join(folder, 'clones', name);
  if (!existsSync(clone)) run(['git', 'clone', '-q', `https://github.com/${name}`, clone]);
  run(['git', '-C', clone, 'checkout', '-q', '--detach', commit]);
  const packages = packagesOf(name);
  if (install && !existsSync(join(packages, 'node_modules'))) {
    mkdirSync(packages, { recursive: true });
    writeFileSync(join(packages, 'package.json'), readFileSync(join(clone, 'package.json')));
    const further = install === true ? [] : install;
    const quietly = ['--legacy-peer-deps', '--no-audit', '--no-fund', '--no-package-lock'];
    run(['npm', 'install', '--ignore-scripts', ...quietly, ...further], packages);
  }
  return clone;
}

function packagesOf(name: string): string {
  return join(folder, 'packages', name);
}

function tasksIn(tasks: string): string[] {
  return globSync(`*/${TASK_FILE}`, { cwd: tasks })
    .map((file) => join(tasks, dirname(file)))
    .toSorted();
}

/** The folder of its tasks. Old commits get the packages of the newest. */
function mine(
  { name, install, prepare = 'true', limit, paths = [], method = 'replay' }: PublicRepository,
  clone: string,
): string {
  const tasks = join(folder, 'tasks', name);
  const known = tasksIn(tasks).length;
  if (known >= limit) return tasks;
  const setup = install ? ['--setup', `ln -s '${join(packagesOf(name), 'node_modules')}' node_modules`] : [];
  const whetstone = [process.execPath, join(root, 'packages/whetstone/bin/whetstone.js')];
  run([
    ...[...whetstone, 'tasks', 'mine', '--repo', clone, '--out', tasks, '--method', method],
    ...['--repeat', '2', '--limit', String(limit - known), '--timeout', '60', '--prepare', prepare],
    ...[...setup, ...paths.flatMap((path) => ['--paths', path])],
  ]);
  return tasks;
}

function run([command = '', ...args]: string[], cwd?: string): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...(cwd && { cwd }) });
}

async function playAll(
  { name, prepare = 'true' }: PublicRepository,
  clone: string,
  tasks: string,
): Promise<void> {
  await using room = await openTaskRoom({
    repo: { path: clone, baseRef: 'HEAD' },
    sandbox: { provider: 'process' },
    environment: environmentOf(installOf({ prepare: [prepare], setup: [] }, clone), 600),
    ...{ withheld: [], logs: join(folder, 'logs'), signal },
  });
  const isOfRepository = ({ repository }: HonestTask) => repository === name;
  const known = new Set(played().map(({ repository, task }) => `${repository} ${task}`));
  for (const path of tasksIn(tasks)) {
    const task = await readTaskFolder(path);
    if (known.has(`${name} ${task.id}`)) continue;
    const found: HonestTask = {
      repository: name,
      task: task.id,
      ...(await play(room, task, played().filter(isOfRepository).length < OTHERS)),
    };
    appendFileSync(results, `${JSON.stringify(found)}\n`);
    console.error(JSON.stringify(found));
  }
}

async function play(
  room: TaskRoom,
  stated: TaskConfig,
  hasOthers: boolean,
): Promise<Omit<HonestTask, 'repository' | 'task'>> {
  const task = await listTests(stated, (patch) => room.judge(stated, patch, { signal }));
  const byDefault = await maskTask(task, { room, signal });
  const masking =
    byDefault && 'why' in byDefault ? await maskTask(asked(task), { room, signal }).catch(why) : byDefault;
  if (!masking || 'why' in masking) return { why: masking?.why ?? 'no tests', verdicts: [] };
  const { plan } = masking;
  await using tree = await openSolvedTree(room, task);
  const honest: Honest[] = [{ kind: 'gold patch', work: tree.patch }];
  if (hasOthers) honest.push({ kind: 'no work', work: null }, ...(await changedPatches(tree)));
  const verdicts: HonestVerdict[] = [];
  for (const { kind, work } of honest) {
    const { broken, validation, isCheating, failure } = await room.judge(task, work, {
      signal,
      masking: plan,
    });
    const verdict = broken ? 'not judged' : isCheating ? 'cheating' : validation;
    const said = broken?.evidence ?? failure;
    verdicts.push({ kind, verdict, ...present({ why: said }) });
  }
  const isDefault = byDefault !== undefined && 'plan' in byDefault;
  return { masks: { ...maskFacts(plan), isDefault }, verdicts };
}

/** The patch written in another way, and with one small error, where its language allows. */
async function changedPatches(tree: SolvedTree): Promise<Honest[]> {
  const changed: Honest[] = [];
  for (const [kind, change] of [
    ['refactor', refactorSource],
    ['mutant', mutateSource],
  ] as const) {
    const all = await Promise.all(tree.sources.map(async (source) => (await change(source, parse)) ?? []));
    const works = choose(all.flat(), 1).map((one) => solutionWith(tree.patch ?? '', one));
    for (const work of works) changed.push({ kind, work });
  }
  return changed;
}

/** Masks where the task does not have the six twins that they need by default. */
function asked(task: TaskConfig): TaskConfig {
  const { tests } = task.validation;
  return { ...task, validation: { ...task.validation, ...(tests && { tests: { ...tests, masks: 'on' } }) } };
}

function why(error: unknown): { why: string } {
  if (!(error instanceof WhetstoneError)) throw error;
  return { why: error.message };
}
