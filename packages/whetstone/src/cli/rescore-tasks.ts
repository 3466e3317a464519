import { present } from '@whetstone/events/present';
import { readRun } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { type RescoredTasks, rescoreTasks } from '../run/rescore-tasks.ts';
import { openConfig } from './find-config.ts';
import { onInterrupt } from './interrupt.ts';
import { noiseLines } from './noise-lines.ts';
import type { RescoreTasksCommandOptions } from './rescore-options.ts';
import type { Streams } from './streams.ts';

/** Judges the stored trees of a run with its tasks as they are now, and prints the new verdict beside the old one. */
export async function rescoreTasksCommand(
  directory: string,
  options: RescoreTasksCommandOptions,
  { stdout, stderr }: Streams,
): Promise<number> {
  const before = await readRun(directory);
  // An imported run was made of no configuration.
  const own = before.manifest.imported_from ? undefined : before.manifest.config_path;
  const config = options.config ?? own;
  const { loaded, environment } = await openConfig(present({ config, tasks: options.tasks }));
  Object.assign(process.env, environment);
  const { validation, repeat, jobs } = options;
  using interrupt = onInterrupt(stderr);
  const result = await rescoreTasks(directory, {
    ...{ config: loaded.config, repeat, jobs, signal: interrupt.signal },
    ...(validation.length > 0 && {
      validation: validation.map((script) => ({ kind: 'shell' as const, script })),
    }),
    onCase({ done, total, before, after }) {
      if (!options.json)
        stderr.write(`${done}/${total} ${verdicts(before, after)}  ${oneLine(after.case_id)}\n`);
    },
  });
  stdout.write(options.json ? escapedJson(resultOf(result)) : `${linesOf(result, repeat).join('\n')}\n`);
  return result.interrupted ? 130 : 0;
}

const verdicts = (before: CaseRow, after: CaseRow): string =>
  before.outcome === after.outcome ? after.outcome : `${before.outcome} → ${after.outcome}`;

const resultOf = ({
  summary,
  directory,
  manifest,
  rescored,
  kept,
  leftOut,
  changed,
  interrupted,
}: RescoredTasks) => ({
  summary,
  directory,
  rescored_from: manifest.rescored_from,
  ...{ rescored, kept, interrupted },
  left_out: leftOut,
  changed: changed.map(({ before, after }) => ({
    ...{ case_id: after.case_id, before: before.outcome, after: after.outcome, evidence: after.evidence },
  })),
});

function linesOf(
  { rescored, kept, leftOut, changed, summary, directory }: RescoredTasks,
  repeat: number,
): string[] {
  const often = repeat > 1 ? `, each tree ${repeat} times` : '';
  return [
    `${counted(rescored, 'case')} judged anew${often}, ${changed.length} with another outcome`,
    ...(kept > 0
      ? [`${counted(kept, 'case')} kept: ${kept === 1 ? 'it' : 'they'} ended before anything judged the work`]
      : []),
    ...leftOut.map(({ why, cases }) => `${counted(cases, 'case')} left out: ${oneLine(why)}`),
    ...changed.map(({ before, after }) => {
      const why = after.evidence === null ? '' : `: ${oneLine(after.evidence)}`;
      return `  ${before.outcome} → ${after.outcome}  ${oneLine(after.case_id)}${why}`;
    }),
    ...noiseLines(summary),
    '',
    summary.headline,
    '',
    directory,
  ];
}
