import type { AgentConfig } from '@whetstone/agents/config';
import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';
import type { Config, TaskConfig, VariantConfig } from '../config/config.ts';
import type { Selection } from './plan.ts';

export type Selected = { agents: AgentConfig[]; tasks: TaskConfig[]; variants: VariantConfig[] };

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

function assertKnown(wanted: readonly string[], known: readonly string[], what: string): void {
  const unknown = [...new Set(wanted)].filter((name) => !known.includes(name));
  const [first] = unknown;
  if (first === undefined) return;
  const plural = PLURALS[what] ?? `${what}s`;
  const quoted = unknown.map((name) => JSON.stringify(name)).join(', ');
  const message = `Unknown ${unknown.length === 1 ? what : plural} ${quoted}.`;
  throw new WhetstoneError('selection-unknown', message, { hint: suggestion(first, known, plural) });
}
