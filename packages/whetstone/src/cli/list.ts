import { openEvalWorkers } from '../eval/eval-workers.ts';
import { evalsOf, loadExperiment } from '../eval/plan-experiment.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { openProject } from './open-project.ts';
import type { Streams } from './streams.ts';

/** Prints the evals and the experiments of a project. Runs none of them. */
export async function listCommand(options: { json?: boolean }, { stdout }: Streams): Promise<number> {
  await using workers = openEvalWorkers();
  const { project, evals, experiments } = await openProject(workers);
  const loaded = await Promise.all(experiments.map(loadExperiment));
  const shown = loaded.map((experiment) => ({
    id: experiment.id,
    agent: agentName(experiment.definition.agent),
    runs: experiment.definition.runs ?? 1,
    evals: evalsOf(experiment, evals).map(({ id }) => id),
  }));
  if (options.json) {
    stdout.write(escapedJson({ root: project.root, evals, experiments: shown }));
    return 0;
  }
  const lines = [
    'Evals',
    ...evals.map(({ id, description, tags }) => {
      const labels = tags.length > 0 ? ` [${tags.join(', ')}]` : '';
      return `  ${id}${labels}${description === undefined ? '' : `  ${description}`}`;
    }),
    '',
    'Experiments',
    ...shown.map(
      ({ id, agent, runs, evals }) =>
        `  ${id}  ${agent}, ${counted(evals.length, 'eval')} × ${counted(runs, 'attempt')}`,
    ),
  ];
  stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

const agentName = (agent: object): string => {
  const { name, kind = 'custom' } = agent as { name?: string; kind?: string };
  return name ?? kind;
};
