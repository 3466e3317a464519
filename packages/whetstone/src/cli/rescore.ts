import { basename, resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { openEvalWorkers } from '../eval/eval-workers.ts';
import { toJudge } from '../eval/plan-experiment.ts';
import type { EvalDescription } from '../eval/protocol.ts';
import { findRun } from '../record/find-run.ts';
import { readRun } from '../record/read-run.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { rescore } from '../run/rescore.ts';
import { noiseLines } from './noise-lines.ts';
import { openProject } from './open-project.ts';
import { locateRun } from './report.ts';
import { isOfTasks, type RescoreTasksCommandOptions } from './rescore-options.ts';
import type { Streams } from './streams.ts';

/** Judges the stored cases of a run anew, with its evals or with its tasks, and prints what changed. */
export async function rescoreCommand(
  reference: string,
  options: { eval?: string } & RescoreTasksCommandOptions,
  streams: Streams,
): Promise<number> {
  let missing: unknown;
  const directory = await locateRun(reference, options.config).catch((error: unknown) => {
    // A project of evals has its own output folder.
    if (!(error instanceof WhetstoneError) || error.code !== 'run-not-found') throw error;
    missing = error;
    return undefined;
  });
  const { config, tasks, validation } = options;
  const ofTasks = config !== undefined || tasks !== undefined || validation.length > 0;
  if (options.eval !== undefined && ofTasks) {
    throw new WhetstoneError(
      'selection-invalid',
      '--eval is for runs of evals; --config, --tasks and --validation are for runs of tasks.',
      {
        hint: 'Leave out --eval, or the others.',
      },
    );
  }
  if (directory !== undefined && options.eval === undefined && (ofTasks || (await isOfTasks(directory)))) {
    const { rescoreTasksCommand } = await import('./rescore-tasks.ts');
    return rescoreTasksCommand(directory, options, streams);
  }
  return rescoreEvals(reference, options, streams).catch((error: unknown) => {
    const isOutside = error instanceof WhetstoneError && error.code === 'project-not-found';
    throw isOutside && missing !== undefined ? missing : error;
  });
}

async function rescoreEvals(
  reference: string,
  options: { eval?: string; repeat: number; json?: boolean },
  { stdout }: Streams,
): Promise<number> {
  await using workers = openEvalWorkers();
  const { project, evals } = await openProject(workers);
  const directory = await findRun(reference, project.outputDir);
  const chosen = await forImported(
    directory,
    options.eval === undefined ? evals : evalsIn(evals, resolve(options.eval)),
  );
  const { root, gateway, judge } = project;
  const { repeat } = options;
  const result = await rescore(directory, {
    ...{ evals: chosen, workers, root, repeat },
    ...present({ gateway, judge: judge && toJudge(judge) }),
  });
  const changes = result.changed.map(({ before, after }) => ({
    ...{ case_id: after.case_id, before: before.outcome, after: after.outcome, evidence: after.evidence },
  }));
  if (options.json) {
    const { summary, rescored, leftOut, ofAnotherJudge } = result;
    stdout.write(
      escapedJson({
        summary,
        rescored,
        left_out: leftOut,
        of_another_judge: ofAnotherJudge,
        changed: changes,
      }),
    );
    return 0;
  }
  const often = repeat > 1 ? `, each ${repeat} times` : '';
  const lines = [
    `${counted(result.rescored, 'case')} judged anew${often}, ${changes.length} with another outcome`,
    ...(result.leftOut > 0
      ? [`${counted(result.leftOut, 'case')} left out: no assertions, or none of these evals`]
      : []),
    ...(result.ofAnotherJudge > 0
      ? [
          `${counted(result.ofAnotherJudge, 'judgement')} of another agent than the configured judge kept: an agent only judges during a run`,
        ]
      : []),
    ...changes.map(({ case_id: id, before, after, evidence }) => {
      const why = evidence === null ? '' : `: ${oneLine(evidence)}`;
      return `  ${before} → ${after}  ${id}${why}`;
    }),
    ...noiseLines(result.summary),
    '',
    result.summary.headline,
    '',
    result.directory,
  ];
  stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

/** The evals of one file. A file elsewhere stands for the one of the same name. */
const evalsIn = (evals: readonly EvalDescription[], file: string): EvalDescription[] => {
  const own = evals.filter((one) => one.file === file);
  return own.length > 0
    ? own
    : evals.filter((one) => basename(one.file) === basename(file)).map((one) => ({ ...one, file }));
};

/** The cases of an imported run have ids of another tool. One eval that is named then judges all of them. */
async function forImported(directory: string, evals: EvalDescription[]): Promise<EvalDescription[]> {
  const { manifest } = await readRun(directory);
  const [only, ...others] = evals;
  if (!manifest.imported_from || !only || others.length > 0) return evals;
  return manifest.tasks.map(({ id }) => ({ ...only, id }));
}
