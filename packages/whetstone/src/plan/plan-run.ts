import { randomBytes } from 'node:crypto';
import { WhetstoneError } from '@whetstone/errors';
import type { Config, TaskConfig } from '../config/config.ts';
import { nameCases } from './case-id.ts';
import {
  fingerprintAgent,
  fingerprintSurroundings,
  fingerprintTask,
  fingerprintVariant,
} from './fingerprint.ts';
import { hashJson } from './hash-json.ts';
import type { Plan, PlannedCase, Selection } from './plan.ts';
import { type Selected, selectMatrix } from './select-matrix.ts';
import { seededRandom, shuffle } from './shuffle.ts';

export type PlanOptions = {
  /** Trials per agent, task and variant: a whole number from 1. */
  trials: number;
  /** Default: the seed of the config, else a random one. */
  seed?: string;
  /** Resolves a ref of the repository to its commit SHA; rejects when there is no such ref. */
  resolveCommit: (ref: string) => Promise<string>;
};

/**
 * The cases of a run with ids and fingerprints, and a starting order that is shuffled from the seed in blocks. Reads
 * the files that fingerprints cover; starts nothing.
 * @throws WhetstoneError `selection-unknown`, `selection-empty`, `selection-invalid`, and the errors of
 * `resolveCommit`.
 */
export async function planRun(config: Config, selection: Selection, options: PlanOptions): Promise<Plan> {
  const { trials } = options;
  if (!(Number.isInteger(trials) && trials >= 1)) {
    throw new WhetstoneError('selection-invalid', `The number of trials must be 1 or more, not ${trials}.`);
  }
  const matrix = await fingerprintMatrix(config, selectMatrix(config, selection), options.resolveCommit);
  const seed = options.seed ?? config.seed ?? randomBytes(8).toString('hex');
  const cases = expand(matrix, trials);
  const { agents, tasks, variants } = matrix;
  const baseline = variants.find(({ name }) => name === config.baseline) ?? variants[0];
  const order = startingOrder(cases, seed);
  return { seed, trials, cases, order, agents, tasks, variants, baseline: baseline?.name ?? '' };
}

type Matrix = Pick<Plan, 'agents' | 'tasks' | 'variants'> & { surroundings: string };

type ResolveCommit = PlanOptions['resolveCommit'];

async function fingerprintMatrix(
  config: Config,
  selected: Selected,
  resolve: ResolveCommit,
): Promise<Matrix> {
  const commits = await resolveCommits(config, selected.tasks, resolve);
  return {
    agents: await Promise.all(
      selected.agents.map(async (agent) => ({
        name: agent.name,
        kind: agent.kind,
        fingerprint: await fingerprintAgent(agent),
      })),
    ),
    tasks: await Promise.all(
      selected.tasks.map(async (task, index) => ({
        id: task.id,
        commit: commits[index] ?? '',
        fingerprint: await fingerprintTask(task),
      })),
    ),
    variants: await Promise.all(
      selected.variants.map(async (variant) => ({
        name: variant.name,
        fingerprint: await fingerprintVariant(variant),
      })),
    ),
    surroundings: await fingerprintSurroundings(config),
  };
}

/** The commit of each task. A ref is resolved only once, so that all tasks that name it get the same commit. */
async function resolveCommits({ repo }: Config, tasks: readonly TaskConfig[], resolve: ResolveCommit) {
  const resolved = new Map<string, Promise<string>>();
  return Promise.all(
    tasks.map(({ repoRef = repo.baseRef }) => {
      const commit = resolved.get(repoRef) ?? resolve(repoRef);
      resolved.set(repoRef, commit);
      return commit;
    }),
  );
}

/** All cases in agent, task, variant, trial order. */
function expand({ agents, tasks, variants, surroundings }: Matrix, trials: number): PlannedCase[] {
  const cells = agents.flatMap((agent, agentIndex) =>
    tasks.flatMap((task, taskIndex) =>
      variants.flatMap((variant) =>
        Array.from({ length: trials }, (_, trialIndex) => ({
          agent: agent.name,
          task: task.id,
          variant: variant.name,
          trial: trialIndex + 1,
          block: (agentIndex * tasks.length + taskIndex) * trials + trialIndex,
          fingerprint: hashJson({ agent, task, variant, trial: trialIndex + 1, surroundings }),
        })),
      ),
    ),
  );
  const ids = nameCases(cells);
  return cells.map((cell, index) => ({ id: ids[index] ?? '', ...cell }));
}

function startingOrder(cases: readonly PlannedCase[], seed: string): string[] {
  const random = seededRandom(seed, 'order');
  const blocks = [...Map.groupBy(cases, ({ block }) => block).values()];
  return shuffle(blocks, random).flatMap((block) => shuffle(block, random).map(({ id }) => id));
}
