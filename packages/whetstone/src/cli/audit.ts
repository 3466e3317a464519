import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { present } from '@whetstone/events/present';
import { attacks } from '@whetstone/sandbox';
import { AUDIT_PARTS, type AuditPart } from '../audit/audit-parts.ts';
import { auditSuite } from '../audit/audit-suite.ts';
import { allCheats } from '../audit/cheats.ts';
import { auditJunit } from '../audit/junit.ts';
import { auditLines } from '../audit/render.ts';
import { upstreamsOf } from '../audit/upstreams.ts';
import { assertKnown } from '../plan/plan-run.ts';
import { makeOutputFolder, requireWritable } from '../record/unwritable.ts';
import { escapedJson } from '../report/json.ts';
import { summarizeAudits } from '../report/suite-audit.ts';
import { withSandbox } from '../run/choose-sandbox.ts';
import { openTaskRoom } from '../tasks/task-room.ts';
import { auditProgress } from './audit-progress.ts';
import { onInterrupt } from './interrupt.ts';
import { plannedSandboxLine, sandboxJson } from './sandbox-line.ts';
import type { Streams } from './streams.ts';
import { tasksOf } from './tasks-of.ts';
import { terminalColors, terminalWidth } from './terminal-features.ts';

export type AuditOptions = {
  task: string[];
  only?: AuditPart[];
  cheat: string[];
  repeat: number;
  mutants: number;
  jobs: number;
  tasks?: string;
  repo?: string;
  prepare: string[];
  setupTimeout: number;
  fresh?: boolean;
  json?: boolean;
  junit?: string;
  out?: string;
};

/** Something was found that makes a verdict wrong. */
const FINDINGS = 5;

/** Audits a suite. `config`: a config file, or a folder of tasks. Returns 0 if nothing was found, else 5. */
export async function auditCommand(
  config: string | undefined,
  options: AuditOptions,
  { stdout, stderr }: Streams,
): Promise<number> {
  const say = (line: string) => {
    if (!options.json) stderr.write(`${line}\n`);
  };
  assertKnown(options.cheat, [...new Set(allCheats.map(({ name }) => name))], 'cheat');
  const isFolder = config !== undefined && statSync(config, { throwIfNoEntry: false })?.isDirectory();
  const { task: taskId, tasks: file, repo, prepare, setupTimeout } = options;
  const named = { taskId, prepare, setupTimeout, ...present({ tasks: file, repo }) };
  const { tasks, runs, ...place } = isFolder
    ? await tasksOf([config], named, say)
    : await tasksOf([], { ...named, ...present({ config }) }, say);
  const outputDir = options.out === undefined ? (runs ?? resolve('.whetstone/runs')) : resolve(options.out);
  if (options.out !== undefined) await makeOutputFolder(outputDir, '--out');
  if (options.junit !== undefined) await requireWritable(options.junit, '--junit');
  using interrupt = onInterrupt(stderr);
  const { signal } = interrupt;
  const { agents = [], variants = [] } = place;
  const { config: settings, sandbox } = await withSandbox(place, { agents, variants, tasks });
  say(`Sandbox ${plannedSandboxLine(settings, sandbox)}`);
  await using room = await openTaskRoom({ ...settings, signal });
  const progress = await auditProgress(stderr, { isQuiet: options.json === true });
  const audits = await auditSuite(tasks, {
    ...{ room, signal, outputDir },
    ...{ repeat: options.repeat, mutants: options.mutants, jobs: options.jobs },
    parts: new Set(options.only ?? AUDIT_PARTS),
    cheats: options.cheat,
    ...{ repo: settings.repo, sandbox: settings.sandbox, environment: settings.environment },
    upstreams: await upstreamsOf(settings.repo.path),
    isFresh: options.fresh === true,
    onEvent: progress.show,
  }).finally(() => progress.stop());
  const reachable = ((await room.describe()).reachable ?? []).map((attack) => attacks[attack]);
  const summary = summarizeAudits(audits);
  if (options.junit !== undefined) await writeFile(options.junit, auditJunit(audits));
  if (options.json)
    stdout.write(escapedJson({ summary, sandbox: sandboxJson(settings, sandbox), reachable, tasks: audits }));
  else {
    const view = { colors: terminalColors(stdout), width: terminalWidth(stdout) };
    stdout.write(`${auditLines({ audits, reachable, summary }, view).join('\n')}\n`);
  }
  if (signal.aborted) return 130;
  return summary.findings === 0 ? 0 : FINDINGS;
}
