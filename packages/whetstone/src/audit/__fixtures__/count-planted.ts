import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskAudit } from '../../record/audits.ts';
import type { Project } from '../../cli/__fixtures__/project.ts';
import { type Planted, weakTasks } from './weak-tasks.ts';

/** The cheats that planted defects let pass, and one that no defect does. */
export const PLANTED_CHEATS = [
  ...['answers-0', 'exits-early', 'command-files', 'guts-tests', 'searches-answer', 'clones-upstream'],
  ...['answer-files', 'prints-success', 'expected-output', 'npmrc-shell', 'deletes-tests'],
];

const isFound = ({ kind, subject }: Planted, { findings }: TaskAudit): boolean =>
  findings.some(
    (one) =>
      one.kind === kind &&
      (subject === undefined || (typeof subject === 'string' ? one.subject === subject : subject.test(one.subject))),
  );

/** Audits some tasks of a suite. Resolves with what was found, and with what the command printed about a failure. */
export async function auditTasks(project: Project, names: readonly string[], options: readonly string[] = []) {
  const tasks = names.flatMap((name) => ['--task', name]);
  const cheats = PLANTED_CHEATS.flatMap((name) => ['--cheat', name]);
  const limits = ['--repeat', '2', '--mutants', '4', '--jobs', '2', '--junit', 'audit.xml', '--json'];
  const { stdout, stderr, exitCode } = await project.whetstone(['audit', ...tasks, ...cheats, ...limits, ...options]);
  const audits: TaskAudit[] = stdout === '' ? [] : JSON.parse(stdout).tasks;
  const junit = stdout === '' ? '' : readFileSync(join(project.root, 'audit.xml'), 'utf8');
  return { audits, exitCode, stderr, junit };
}

/** How many planted defects of these audits were found, and which were not. */
export function countPlanted(audits: readonly TaskAudit[]): { planted: number; missed: string[] } {
  const all = audits.flatMap((audit) =>
    (weakTasks.find(({ name }) => name === audit.task)?.planted ?? []).map((one) => ({ audit, one })),
  );
  const missed = all.filter(({ audit, one }) => !isFound(one, audit));
  return {
    planted: all.length,
    missed: missed.map(({ audit, one }) => `${audit.task}: ${one.kind} ${one.subject ?? ''}`),
  };
}
