import type { Config, TaskConfig } from '../config/config.ts';
import { hashFile } from '../config/source-tree.ts';
import { fingerprintTask } from '../plan/fingerprint.ts';
import { hashJson } from '../plan/hash-json.ts';
import { auditFolder, openSteps, type TaskAudit, writeAudit } from '../record/audits.ts';
import { openSourceParser } from '../syntax/source-parser.ts';
import { version } from '../version.ts';
import { resolveCommit } from '../workspace/repository.ts';
import { auditTask } from './audit-task.ts';
import type { TaskAuditOptions } from './bench.ts';
import type { Graded } from './graded.ts';

/** Changes whenever the same gradings would be judged in another way. */
const RULES = 2;

export type SuiteOptions = Pick<
  TaskAuditOptions,
  'room' | 'parts' | 'repeat' | 'cheats' | 'mutants' | 'jobs' | 'signal'
> & {
  repo: Config['repo'];
  sandbox: Config['sandbox'];
  environment?: Config['environment'] | undefined;
  upstreams: readonly string[];
  /** Where audits are kept: the folder of runs. */
  outputDir: string;
  /** Grades everything again. */
  isFresh: boolean;
  onEvent: (event: AuditEvent) => void;
};

export type AuditEvent =
  | { type: 'task.started'; task: string; index: number; of: number }
  /** `kept`: it was graded by an earlier audit. */
  | { type: 'step'; task: string; step: string; steps: number; kept: number }
  | { type: 'task.finished'; audit: TaskAudit };

/** Audits tasks one after the other, and keeps what each grading said. A stopped audit resolves with what it has. */
export async function auditSuite(
  tasks: readonly TaskConfig[],
  { repo, sandbox, environment, upstreams, outputDir, isFresh, onEvent, ...options }: SuiteOptions,
): Promise<TaskAudit[]> {
  const parse = await openSourceParser();
  const audits: TaskAudit[] = [];
  for (const [index, task] of tasks.entries()) {
    if (options.signal.aborted) break;
    onEvent({ type: 'task.started', task: task.id, index: index + 1, of: tasks.length });
    const identity = {
      fingerprint: await fingerprintTask(task),
      commit: await resolveCommit(repo.path, task.repoRef ?? repo.baseRef),
      sandbox: sandbox.provider,
    };
    const gold = task.goldPatch === undefined ? null : await hashFile(task.goldPatch);
    const key = hashJson({ ...identity, gold, environment, version, rules: RULES });
    const folder = auditFolder(outputDir, key.slice(0, 20));
    const steps = await openSteps(folder);
    let graded = 0;
    let kept = 0;
    const remember: TaskAuditOptions['remember'] = async (name, grade) => {
      const known = isFresh ? undefined : steps.get(name);
      const result = known === undefined ? await grade() : (known as Graded);
      graded += 1;
      if (known !== undefined) kept += 1;
      // A clean room that could not work may work next time.
      else if (result.verdict !== 'broken') await steps.add(name, result);
      onEvent({ type: 'step', task: task.id, step: name, steps: graded, kept });
      return result;
    };
    try {
      const audit = await auditTask(task, { ...options, parse, upstreams, remember });
      audits.push(audit);
      await writeAudit(folder, {
        ...{ schema_version: '1', ...identity, audited_at: new Date().toISOString() },
        ...audit,
      });
      onEvent({ type: 'task.finished', audit });
    } catch (error) {
      if (!options.signal.aborted) throw error;
    }
  }
  return audits;
}
