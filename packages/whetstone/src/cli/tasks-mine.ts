import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { createMask } from '@whetstone/sandbox';
import { TASK_FILE } from '../config/read-task-file.ts';
import { makeOutputFolder } from '../record/unwritable.ts';
import { counted, percentNumber } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { collectSecrets } from '../run/collect-secrets.ts';
import type { Candidates } from '../tasks/candidate.ts';
import { findCandidates } from '../tasks/candidates.ts';
import type { Method } from '../tasks/methods.ts';
import { type Mined, mineTasks, PREPARE_LOGS } from '../tasks/mine.ts';
import type { MiningEntry } from '../tasks/mining-journal.ts';
import { openIssues } from '../tasks/read-issues.ts';
import type { ScanOptions } from '../tasks/scan-history.ts';
import { readSessionTurns, sessionsIn } from '../tasks/session-prompts.ts';
import { openRepository } from '../workspace/repository.ts';
import { environmentLine } from './environment-line.ts';
import { hasConfig, openConfig } from './find-config.ts';
import { onInterrupt } from './interrupt.ts';
import type { Streams } from './streams.ts';
import { environmentKeys, environmentOf, type Install, installOf, prepareLine } from './tasks-environment.ts';

export type TasksMineOptions = {
  repo: string;
  out: string;
  method: Method;
  since?: string;
  paths: string[];
  limit: number;
  maxFiles: number;
  maxLines: number;
  issues: string[];
  /** `true`: wherever the agents of this machine keep them. */
  sessions: string[] | true;
  writeStatement?: string;
  statementBudget: number;
  prepare: string[];
  setup: string[];
  setupTimeout: number;
  timeout: number;
  repeat: number;
  jobs: number;
  dryRun?: boolean;
  json?: boolean;
};

/**
 * Makes tasks of a history, and prints how many candidates became tasks and why the others did not. Returns 1 if there are
 * candidates and none of them could be tried, now or before.
 */
export async function tasksMineCommand(options: TasksMineOptions, streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  if (options.repeat < 2) {
    throw new WhetstoneError(
      'mining-option-invalid',
      '--repeat must be 2 or more: one run cannot show flaky tests.',
    );
  }
  const ofCommits = [
    options.since ?? [],
    options.issues,
    options.sessions === true || options.sessions,
  ].flat();
  if (options.method === 'remove' && ofCommits.length > 0) {
    throw new WhetstoneError(
      'mining-option-invalid',
      '--since, --issues and --sessions are about commits, and --method remove does not use commits.',
    );
  }
  if (options.dryRun) {
    const { workTree } = await openRepository(options.repo);
    const { draft: _, ...found } = await findCandidates(options.method, workTree, scanOf(options));
    stdout.write(options.json ? escapedJson(found) : `${scanLines(found, options).join('\n')}\n`);
    return 0;
  }
  using interrupt = onInterrupt(stderr);
  const say = (line: string) => {
    if (!options.json) stderr.write(`${line}\n`);
  };
  const { mined, out, install } = await mine(options, { signal: interrupt.signal, say });
  stdout.write(
    options.json
      ? escapedJson(mined)
      : `${minedLines(mined, { out, install, paths: options.paths }).join('\n')}\n`,
  );
  if (interrupt.signal.aborted) return 130;
  return isUntriable(mined) ? 1 : 0;
}

/** The tests of no candidate could be run: something is missing that all of them need. */
const isUntriable = ({ tried, known }: Mined): boolean => {
  const all = [...known, ...tried];
  return all.length > 0 && all.every(({ status }) => status === 'broken');
};

const scanOf = ({ maxFiles, maxLines, paths, since }: TasksMineOptions): ScanOptions => ({
  ...{ maxFiles, maxLines, paths },
  ...present({ since: dateOf(since) }),
});

/** Mines as the options say. `say` gets a line for each commit that was tried. */
export async function mine(
  options: TasksMineOptions,
  { signal, say }: { signal: AbortSignal; say: (line: string) => void },
): Promise<{ mined: Mined; out: string; install: Install }> {
  const { method, repeat, limit, jobs, setup } = options;
  const { workTree } = await openRepository(options.repo);
  const scan = scanOf(options);
  const issues = await openIssues(options.issues, workTree);
  const sessions = await readSessionTurns(await sessionSources(options, workTree), {
    workTree,
    mask: createMask(collectSecrets([], undefined, process.env)),
  });
  const install = installOf(options, workTree);
  const withScripts = install.withScripts && { ...install, commands: install.withScripts };
  const out = resolve(options.out);
  await makeOutputFolder(out, '--out');
  say(prepareLine(install, options));
  await using writer = await openWriter(options, signal);
  const mined = await mineTasks({
    ...{ method, scan, issues, sessions, repeat, limit, jobs, out, signal },
    repo: { path: workTree, baseRef: 'HEAD' },
    writer,
    sandbox: { provider: 'process' },
    environment: environmentOf(install, options.setupTimeout),
    environmentWithScripts: withScripts && environmentOf(withScripts, options.setupTimeout),
    setup: {
      ...(setup.length > 0 && { setup, setupTimeoutSeconds: options.setupTimeout }),
      timeoutSeconds: options.timeout,
    },
    onEnvironment: (event) => say(environmentLine(event)),
    onTried: (entry, { tried, of }) => say(`${tried}/${of} ${triedLine(entry)}`),
  });
  return { mined, out, install: (mined.needsScripts && withScripts) || install };
}

/** Folders that the user named, or a list of the sessions that agents have kept of work in the repository. */
async function sessionSources({ sessions }: TasksMineOptions, workTree: string) {
  if (sessions === true) return [await sessionsIn(workTree, process.env)];
  return sessions.map((folder) => resolve(folder));
}

/** A model whose providers are those of a configuration, if there is one here. */
async function openWriter({ writeStatement: model, statementBudget }: TasksMineOptions, signal: AbortSignal) {
  if (model === undefined) return undefined;
  if (!/^(?:openai|anthropic|google)\/\S+$/.test(model))
    throw new WhetstoneError(
      'mining-option-invalid',
      `--write-statement ${JSON.stringify(model)} is not a model.`,
      { hint: 'Write openai/NAME, anthropic/NAME or google/NAME.' },
    );
  const configured = hasConfig() ? await openConfig({}) : undefined;
  Object.assign(process.env, configured?.environment);
  const { openStatementWriter } = await import('../run/open-statement-writer.ts');
  const gateway = configured?.loaded.config.gateway;
  return openStatementWriter({ model, budgetUsd: statementBudget, gateway, signal });
}

const UNITS: Record<string, string> = { d: 'days', w: 'weeks', m: 'months', y: 'years' };

/** Git reads a date that it does not understand as now, and does not say so. */
function dateOf(since: string | undefined): string | undefined {
  if (since === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,4})([dwmy])$/.exec(since) ?? [];
  if (count !== undefined) return `${count} ${UNITS[unit]} ago`;
  if (/^\d{4}-\d\d-\d\d/.test(since) && !Number.isNaN(Date.parse(since))) return since;
  throw new WhetstoneError('mining-option-invalid', `--since ${JSON.stringify(since)} is not a date.`, {
    hint: 'Write 2026-01-31, or an age such as 90d, 6m or 2y.',
  });
}

function triedLine({ status, subject, task, reason, grade, evidence, seconds }: MiningEntry): string {
  const cause = evidence === undefined ? '' : ` (${oneLine(evidence).slice(0, 400)})`;
  const result = status === 'task' ? `task ${task} (statement: ${grade})` : `${reason}${cause}`;
  return `${oneLine(subject)}: ${result}, ${seconds} s`;
}

/** On one line. */
const inYaml = (keys: object): string =>
  `{ ${Object.entries(keys)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(', ')} }`;

const nounOf = (method: Method) => (method === 'remove' ? 'code part' : 'commit');

export function scanLines(
  { method, candidates, leftOut, isShallow }: Omit<Candidates, 'draft'>,
  { paths }: { paths: readonly string[] },
): string[] {
  const all = candidates.length + leftOut.length;
  const share = all === 0 ? '' : ` (${percentNumber(candidates.length / all)} %)`;
  return [
    `${counted(all, nounOf(method))}, ${counted(candidates.length, 'candidate')}${share}`,
    ...(all === 0 && paths.length > 0
      ? [`No ${nounOf(method)} ${method === 'remove' ? 'is in' : 'changes'} ${paths.join(' or ')}.`]
      : []),
    ...(isShallow
      ? ['The clone is shallow: older commits are not there. `git fetch --unshallow` gets them.']
      : []),
    ...group(
      'Left out:',
      leftOut.map(({ reason }) => reason),
    ),
  ];
}

/** How often each reason occurs, the most frequent first. */
export function group(title: string, reasons: readonly string[]): string[] {
  if (reasons.length === 0) return [];
  const counts = [
    ...Map.groupBy(reasons, (reason) => reason.replace(/^(it changes|it has) \d+/, '$1 too many')),
  ];
  const sorted = counts.map(([reason, all]) => [all.length, reason] as const).sort(([a], [b]) => b - a);
  const width = String(sorted[0]?.[0] ?? 0).length;
  return ['', title, ...sorted.map(([count, reason]) => `  ${String(count).padStart(width)}  ${reason}`)];
}

function minedLines(
  mined: Mined,
  { out, install, paths }: { out: string; install: Install; paths: readonly string[] },
): string[] {
  const { tried, known, untried } = mined;
  const all = [...known, ...tried];
  const made = all.filter(({ status }) => status === 'task');
  const tasks = made.filter(({ task = '' }) => existsSync(join(out, task, TASK_FILE)));
  const dropped = made.length > tasks.length ? `, ${made.length - tasks.length} dropped` : '';
  const refused = all.filter(({ status }) => status === 'refused');
  const broken = all.filter(({ status }) => status === 'broken');
  const judged = made.length + refused.length;
  const yieldText =
    judged === 0 ? '' : ` (${percentNumber(made.length / judged)} % of those that could be tried)`;
  const excluded = all.flatMap(({ excluded: tests = [] }) => tests.map(({ reason }) => reason));
  const shown = relative(process.cwd(), out);
  const folder = shown === '' || shown.startsWith('..') || isAbsolute(shown) ? out : shown;
  const logs = existsSync(join(out, PREPARE_LOGS))
    ? ` What an installation printed is in ${join(folder, PREPARE_LOGS)}.`
    : '';
  const otherCommands = `--prepare and --setup name other commands.${logs}`;
  return [
    ...scanLines(mined, { paths }),
    ...group(
      'Refused:',
      refused.map(({ reason = '' }) => reason),
    ),
    ...group(
      'Could not be tried, and will be again:',
      broken.map(({ reason = '' }) => reason),
    ),
    ...(mined.isBroken
      ? [`It stopped there, because the first ${broken.length} could not be tried. ${otherCommands}`]
      : isUntriable(mined)
        ? [`None could be tried. ${otherCommands}`]
        : []),
    ...group('Tests that do not count:', excluded),
    ...group(
      'Statements:',
      tasks.map(({ grade = '' }) => grade),
    ),
    '',
    `${counted(tasks.length, 'task')}${dropped}${yieldText}, ${counted(tried.length, nounOf(mined.method))} tried now, ${known.length} before, ${untried} not yet`,
    ...(tasks.length > 0
      ? [
          `In ${folder}. Read them with: whetstone tasks review ${folder}`,
          `To run them, add this to your task file: include: [${JSON.stringify(folder)}]`,
          ...(install.commands.length > 0
            ? [`and this to your configuration: environment: ${inYaml(environmentKeys(install))}`]
            : []),
        ]
      : []),
    ...(existsSync(join(out, 'mined.jsonl')) ? [] : ['Nothing was tried.']),
  ];
}
