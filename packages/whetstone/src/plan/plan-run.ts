import { createHash, randomBytes } from 'node:crypto';
import type { AgentConfig } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import { present } from '@whetstone/events/present';
import type { Config, TaskConfig, VariantConfig } from '../config/config.ts';
import { FEWEST_TASKS_OF_LOOKS, LOOKS } from '../stats/group-sequential.ts';
import { FEWEST_TASKS } from '../stats/population-difference.ts';
import { nameCases } from './case-id.ts';
import {
  fingerprintAgent,
  fingerprintSurroundings,
  fingerprintTask,
  fingerprintVariant,
} from './fingerprint.ts';
import { hashJson } from './hash-json.ts';
import type { Plan, PlannedCase, Selection } from './plan.ts';

export type PlanOptions = {
  /** Trials per agent, task and variant: a whole number from 1. */
  trials: number;
  /** Default: the seed of the config, else a random one. */
  seed?: string;
  /** Runs the tasks in four parts, with a look at the comparisons after each. Default: false. */
  sequential?: boolean;
  /**
   * Runs the baseline only on some of the tasks, as a bridge to a run that has it: `tasks` of them, drawn by the seed, or those
   * that are named. Default: on all of them.
   */
  bridge?: { run_id: string; tasks: number | readonly string[] };
  /** Paths in the repository that no case's tree has. Default: none. */
  withheld?: readonly string[];
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
  const selected = selectMatrix(config, selection);
  refuseTooMany(selected, trials);
  const matrix = await fingerprintMatrix(config, selected, options);
  const seed = options.seed ?? config.seed ?? randomBytes(8).toString('hex');
  const { agents, tasks, variants } = matrix;
  const baseline = variants.find(({ name }) => name === config.baseline) ?? variants[0];
  const bridge = options.bridge && planBridge(matrix, config.baseline, options.bridge, seed);
  const cases = expand(matrix, trials).filter(
    ({ variant, task }) => !bridge || variant !== config.baseline || bridge.tasks.includes(task),
  );
  const looks = options.sequential ? planLooks(matrix, seed) : undefined;
  const order = startingOrder(cases, seed, looks);
  return {
    ...{ seed, trials, cases, order, agents, tasks, variants, baseline: baseline?.name ?? '' },
    ...present({ looks, bridge }),
  };
}

/** As many are planned in 5 seconds and 0.4 GB, and three million not in 100 seconds: a slip of the keyboard, not a run. */
const MOST_CASES = 200_000;

function refuseTooMany({ agents, tasks, variants }: Selected, trials: number): void {
  const count = agents.length * tasks.length * variants.length * trials;
  if (count <= MOST_CASES) return;
  const [planned, most] = [count, MOST_CASES].map((number) => number.toLocaleString('en'));
  throw new WhetstoneError(
    'selection-invalid',
    `That would be ${planned} cases, and one run has ${most} at most.`,
    { hint: 'Give fewer --trials, or select fewer agents, variants or tasks.' },
  );
}

type Matrix = Pick<Plan, 'agents' | 'tasks' | 'variants'> & { surroundings: string };

type ResolveCommit = PlanOptions['resolveCommit'];

async function fingerprintMatrix(
  config: Config,
  selected: Selected,
  { resolveCommit, withheld = [] }: PlanOptions,
): Promise<Matrix> {
  const commits = await resolveCommits(config, selected.tasks, resolveCommit);
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
    surroundings: await fingerprintSurroundings(config, withheld),
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

/** The tasks of each look, drawn by the seed. Each look adds whole tasks with all their cases. */
function planLooks({ tasks, variants }: Matrix, seed: string): NonNullable<Plan['looks']> {
  if (variants.length < 2 || tasks.length < FEWEST_TASKS_OF_LOOKS) {
    const has = variants.length < 2 ? 'only one variant' : `${tasks.length} tasks`;
    throw new WhetstoneError(
      'selection-invalid',
      `A sequential run compares variants over at least ${FEWEST_TASKS_OF_LOOKS} tasks, and this one has ${has}.`,
      { hint: 'Leave out --sequential, or select more.' },
    );
  }
  const ids = shuffle(
    tasks.map(({ id }) => id),
    seededRandom(seed, 'looks'),
  );
  let taken = 0;
  return LOOKS.map(({ share, alpha }) => {
    const from = taken;
    taken = Math.round(share * ids.length);
    return { tasks: ids.slice(from, taken), alpha };
  });
}

function planBridge(
  { tasks, variants }: Matrix,
  baseline: string,
  { run_id, tasks: wanted }: NonNullable<PlanOptions['bridge']>,
  seed: string,
): NonNullable<Plan['bridge']> {
  if (variants.length < 2 || variants.every(({ name }) => name !== baseline)) {
    throw new WhetstoneError(
      'selection-invalid',
      `A bridge needs the baseline ${baseline} and another variant.`,
      { hint: 'Leave out --bridge, or select both.' },
    );
  }
  if (typeof wanted !== 'number') return { run_id, tasks: [...wanted] };
  if (wanted < FEWEST_TASKS || wanted > tasks.length) {
    throw new WhetstoneError(
      'selection-invalid',
      `A bridge has at least ${FEWEST_TASKS} tasks of the ${tasks.length} of the run, and ${wanted} were asked for.`,
      { hint: 'Set --bridge-tasks, or select more tasks.' },
    );
  }
  const ids = shuffle(
    tasks.map(({ id }) => id),
    seededRandom(seed, 'bridge'),
  );
  const drawn = new Set(ids.slice(0, wanted));
  return { run_id, tasks: tasks.flatMap(({ id }) => (drawn.has(id) ? [id] : [])) };
}

function startingOrder(cases: readonly PlannedCase[], seed: string, looks: Plan['looks']): string[] {
  const random = seededRandom(seed, 'order');
  const lookOf = (task: string) => looks?.findIndex(({ tasks }) => tasks.includes(task)) ?? 0;
  const blocks = [...Map.groupBy(cases, ({ block }) => block).values()];
  return shuffle(blocks, random)
    .toSorted(([a], [b]) => lookOf(a?.task ?? '') - lookOf(b?.task ?? ''))
    .flatMap((block) => shuffle(block, random).map(({ id }) => id));
}

type Selected = { agents: AgentConfig[]; tasks: TaskConfig[]; variants: VariantConfig[] };

/**
 * The part of the matrix that a selection names. Agents and variants come in its order; tasks keep the order of the
 * task file, and `maxTasks` counts after the filters.
 * @throws WhetstoneError `selection-unknown` for a name that the config does not have, `selection-empty` when no task
 * is left.
 */
export function selectMatrix(config: Config, selection: Selection): Selected {
  return {
    agents: pick(config.agents, selection.agents ?? [], 'agent'),
    variants: pick(config.variants, selection.variants ?? [], 'variant'),
    tasks: selectTasks(config.tasks, selection),
  };
}

function pick<Item extends { name: string }>(
  items: readonly Item[],
  wanted: readonly string[],
  what: string,
): Item[] {
  const known = items.map(({ name }) => name);
  assertKnown(wanted, known, what);
  if (wanted.length === 0) return [...items];
  return [...new Set(wanted)].flatMap((name) => items.filter((item) => item.name === name));
}

function selectTasks(tasks: readonly TaskConfig[], selection: Selection): TaskConfig[] {
  const { taskIds = [], categories = [], difficulties = [], maxTasks } = selection;
  if (maxTasks !== undefined && !(Number.isInteger(maxTasks) && maxTasks >= 1)) {
    throw new WhetstoneError('selection-invalid', `The number of tasks must be 1 or more, not ${maxTasks}.`);
  }
  const filters = [
    ['id', 'task', taskIds],
    ['category', 'category', categories],
    ['difficulty', 'difficulty', difficulties],
  ] as const;
  for (const [key, what, wanted] of filters) {
    const known = new Set(tasks.flatMap((task) => task[key] ?? []));
    assertKnown(wanted, [...known], what);
  }
  const selected = tasks.filter((task) =>
    filters.every(([key, , wanted]) => wanted.length === 0 || wanted.includes(task[key] ?? '')),
  );
  if (selected.length === 0) {
    throw new WhetstoneError('selection-empty', 'The filters leave no task.', {
      hint: 'A task has to match every filter: remove one of them.',
    });
  }
  return selected.slice(0, maxTasks);
}

const PLURALS: Record<string, string> = { category: 'categories', difficulty: 'difficulties' };

/** @throws WhetstoneError `selection-unknown` if a name is not among those that are known */
export function assertKnown(wanted: readonly string[], known: readonly string[], what: string): void {
  const unknown = [...new Set(wanted)].filter((name) => !known.includes(name));
  const [first] = unknown;
  if (first === undefined) return;
  const plural = PLURALS[what] ?? `${what}s`;
  const quoted = unknown.map((name) => JSON.stringify(name)).join(', ');
  const message = `Unknown ${unknown.length === 1 ? what : plural} ${quoted}.`;
  throw new WhetstoneError('selection-unknown', message, { hint: suggestion(first, known, plural) });
}

/** Returns whole numbers from 0 to `bound` - 1, all equally likely. */
type RandomSource = (bound: number) => number;

/**
 * Random numbers that depend only on a seed and a purpose: the 32-bit words of sha256 over seed, purpose and a counter.
 * They are the same on every platform and in every version. Two purposes of one seed are independent.
 */
export function seededRandom(seed: string, purpose: string): RandomSource {
  let counter = 0;
  let words: number[] = [];
  const nextWord = (): number => {
    const word = words.pop();
    if (word !== undefined) return word;
    const block = createHash('sha256')
      .update(JSON.stringify([seed, purpose, counter]))
      .digest();
    counter += 1;
    words = Array.from({ length: 8 }, (_, index) => block.readUInt32BE(index * 4));
    return nextWord();
  };
  return (bound) => {
    // Words above the last whole multiple of the bound would favour small numbers.
    const limit = 2 ** 32 - (2 ** 32 % bound);
    let word = nextWord();
    while (word >= limit) word = nextWord();
    return word % bound;
  };
}

/** A shuffled copy (Fisher–Yates). */
export function shuffle<Item>(items: readonly Item[], random: RandomSource): Item[] {
  const rest = [...items];
  const shuffled: Item[] = [];
  while (rest.length > 0) shuffled.push(...rest.splice(random(rest.length), 1));
  return shuffled;
}
