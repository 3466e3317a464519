import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Config } from '../config/config.ts';
import type { Diagnostic } from '../config/diagnostic.ts';
import type { Project } from '../config/load-project.ts';
import { readFixture } from '../eval/fixture.ts';
import {
  type Experiment,
  type ExperimentOverrides,
  evalsOf,
  hiddenStoreOf,
  loadExperiment,
  planExperiment,
  type StoredFixture,
  selectIds,
  treeStoreOf,
} from '../eval/plan-experiment.ts';
import type { EvalDescription } from '../eval/protocol.ts';
import { EMPTY_COMMIT, openTreeStore, storeTree } from '../workspace/tree-store.ts';
import type { OpenProject } from './open-project.ts';

/** What a command line says of the experiments to run. */
export type ExperimentOptions = {
  agent?: string;
  model?: string;
  runs?: number;
  sandbox?: string;
  tag: string[];
  budget?: number;
  timeout?: number;
  earlyExit?: boolean;
};

/** An experiment as the configuration of a run. `trials`: attempts per eval and variant. */
export type PlannedExperiment = { experiment: Experiment; config: Config; trials: number };

/**
 * Plans the experiments and evals that names mean; without names, all of them. `warnings`: about the files of the user.
 * @throws ConfigErrors, and WhetstoneError for names and tags that fit nothing
 */
export async function planExperiments(
  opened: OpenProject,
  names: readonly string[],
  options: ExperimentOptions,
): Promise<{ planned: PlannedExperiment[]; warnings: Diagnostic[] }> {
  const { project } = opened;
  const chosen = await choose(opened, names, options);
  const { repo, fixtures } = await prepareTrees(
    project,
    chosen.flatMap(({ evals }) => evals),
  );
  const overrides = overridesOf(options);
  return {
    planned: chosen.map(({ experiment, evals }) => ({
      experiment,
      config: planExperiment(experiment, evals, { project, repo, overrides, fixtures }),
      trials: options.runs ?? experiment.definition.runs ?? 1,
    })),
    warnings: [project, ...chosen.map(({ experiment }) => experiment)].flatMap((one) => one.warnings),
  };
}

/** The repository that agents work on: that of the project, or one of ours with the fixtures and an empty tree. */
async function prepareTrees(project: Project, evals: readonly EvalDescription[]) {
  const folders = new Set(evals.flatMap(({ fixture }) => fixture ?? []));
  if (project.repo && folders.size === 0) return { repo: project.repo, fixtures: new Map() };
  if (project.repo && evals.some(({ fixture }) => fixture === undefined)) {
    throw new WhetstoneError(
      'experiment-invalid',
      'Some evals have a fixture, and the others work on `repo`: one run has the one or the other.',
      { hint: 'Select the evals with a fixture, or the others, by their ids or tags.' },
    );
  }
  const store = openTreeStore(treeStoreOf(project));
  const fixtures = new Map<string, StoredFixture>();
  for (const folder of folders) {
    const fixture = await readFixture(folder, hiddenStoreOf(project));
    fixtures.set(folder, { fixture, commit: await storeTree(store, fixture.visible) });
  }
  return { repo: { path: store, baseRef: 'HEAD', commit: EMPTY_COMMIT }, fixtures };
}

/** A name may also be the path of a file or a folder, as a shell completes it. */
const withoutFolder = (name: string): string =>
  name.replace(/^(?:\.\/)?(?:evals|experiments)\/(?=.)/, '').replace(/(?:\.eval)?\.[cm]?[jt]s$/, '');

/** The experiments and evals that the names mean. A name that is an experiment is one; any other is of evals. */
async function choose(
  { evals, experiments }: OpenProject,
  given: readonly string[],
  { tag }: ExperimentOptions,
) {
  const names = given.map(withoutFolder);
  const isExperiment = (name: string) =>
    experiments.some(({ id }) => id === name || id.startsWith(`${name}/`));
  const wanted = selectIds(experiments, names.filter(isExperiment), 'experiments');
  const files = wanted.length > 0 ? wanted : experiments;
  if (files.length === 0) {
    throw new WhetstoneError('selection-empty', 'There is no experiment.', {
      hint: 'Write one in the folder `experiments`; docs/evals.md shows how.',
    });
  }
  const others = names.filter((name) => !isExperiment(name));
  const named =
    others.length > 0 ? selectIds(evals, others, 'evals or experiments', [...experiments, ...evals]) : evals;
  const tagged = tag.length > 0 ? named.filter(({ tags }) => tag.some((one) => tags.includes(one))) : named;
  const loaded = [];
  for (const file of files) loaded.push(await loadExperiment(file));
  const chosen = loaded
    .map((experiment) => ({
      experiment,
      evals: evalsOf(experiment, evals).filter((one) => tagged.includes(one)),
    }))
    .filter((one) => one.evals.length > 0);
  if (chosen.length > 0) return chosen;
  throw new WhetstoneError('selection-empty', 'No eval fits.', {
    hint: 'An eval has to be one of the experiment, of the names and of the tags: remove one of them.',
  });
}

const overridesOf = ({
  agent,
  model,
  runs,
  sandbox,
  timeout,
  budget,
  earlyExit,
}: ExperimentOptions): ExperimentOverrides =>
  present({
    agent,
    model,
    runs,
    sandbox,
    budget,
    earlyExit,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  });
