import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { ConfigErrors } from '../config/diagnostic.ts';
import { withDotEnv } from '../config/dot-env.ts';
import { loadProject, type Project } from '../config/load-project.ts';
import { unplaced } from '../config/source-text.ts';
import type { EvalWorkers } from '../eval/eval-workers.ts';
import {
  type ExperimentFile,
  findEvalFiles,
  findExperimentFiles,
  findFixtureFolders,
} from '../eval/find-evals.ts';
import type { EvalDescription, EvalFile } from '../eval/protocol.ts';
import { resolveWhetstone } from '../eval/resolve-whetstone.ts';

/** A project with its evals and the files of its experiments. */
export type OpenProject = { project: Project; evals: EvalDescription[]; experiments: ExperimentFile[] };

/**
 * Opens the project that the current folder is in, and loads its evals in their own process. The variables of its `.env`
 * are then in `process.env`, which the process of the evals does not get.
 * @throws ConfigErrors with every eval that cannot be loaded
 */
export async function openProject(workers: EvalWorkers, cwd = process.cwd()): Promise<OpenProject> {
  const root = findRoot(cwd);
  Object.assign(process.env, await withDotEnv(root, process.env));
  const describing = workers.describe(findEvalFiles(root));
  describing.catch(() => undefined); // what is wrong with the project comes first
  await resolveWhetstone();
  const project = await loadProject(root);
  const { evals: ofFiles, problems } = await describing;
  const evals = [...ofFiles, ...findFixtureFolders(root).map(fixtureEval)];
  if (problems.length > 0) {
    throw new ConfigErrors(
      problems.map(({ file, line, column, message }) => ({
        ...unplaced(file, { path: '', severity: 'error', message }),
        ...present({ line, column }),
      })),
    );
  }
  return { project, evals, experiments: findExperimentFiles(root) };
}

/** A folder with a PROMPT.md: its tests judge the agent, and no code of an eval. */
const fixtureEval = ({ file, id }: EvalFile): EvalDescription => ({
  ...{ id, file, key: null, fixture: file, tags: [], requires: { workspace: true } },
});

const MARKS = ['whetstone.config.ts', 'whetstone.config.mts', 'whetstone.config.js', 'evals', 'experiments'];

/** @throws WhetstoneError `project-not-found` */
export function findRoot(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (MARKS.some((name) => existsSync(join(folder, name)))) return folder;
    if (existsSync(join(folder, '.git')) || folder === dirname(folder)) break;
  }
  throw new WhetstoneError('project-not-found', `There are no evals in ${cwd} or above it.`, {
    hint: 'Make a folder `evals` with a file `hello.eval.ts`, and a folder `experiments`; docs/evals.md shows both.',
  });
}
