import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import type { CaseResult } from './case-results.ts';
import { counted } from './format.ts';

/**
 * Which variants did not change the first request of an agent, in sentences. A difference between such arms can come only
 * from what the agent finds later, or from chance.
 */
export function aboutTheRequests(
  { agents, variants, baseline }: Pick<Manifest, 'agents' | 'variants' | 'baseline'>,
  cases: readonly CaseResult[],
): string[] {
  const rows = cases.flatMap(({ row }) => row ?? []);
  const base = variants.find(({ name }) => name === baseline);
  const others = variants.filter(({ fingerprint }) => base && fingerprint !== base.fingerprint);
  return agents.flatMap(({ name: agent }) => {
    const ofArm = (name: string) => rows.filter((row) => row.agent_name === agent && row.variant === name);
    return others.flatMap(({ name }) =>
      sharedRequest(agent, { name: baseline, rows: ofArm(baseline) }, { name, rows: ofArm(name) }),
    );
  });
}

type ArmRows = { name: string; rows: readonly CaseRow[] };

/** The same of two arms, which may be of different runs: no sentence, or one. */
export function sharedRequest(agent: string, baseline: ArmRows, variant: ArmRows): string[] {
  const tasks = tasksWithShared(baseline.rows, variant.rows);
  if (tasks === undefined) return [];
  const where = tasks === 1 ? 'the task' : `all ${counted(tasks, 'task')}`;
  return [
    `The first model request of ${agent} was the same in ${variant.name} as in ${baseline.name}, in ${where} where both are known: the variant did not change what the model gets at the start. "whetstone show RUN CASE" lists the instruction files that were in it.`,
  ];
}

/** In how many tasks both arms had an equal first request; `undefined` if in one they had not, or none is known. */
function tasksWithShared(baseline: readonly CaseRow[], variant: readonly CaseRow[]): number | undefined {
  let shared = 0;
  const others = Map.groupBy(variant, (row) => row.task_id);
  for (const [task, rows] of Map.groupBy(baseline, (row) => row.task_id)) {
    const [of, other] = [requestsIn(rows), requestsIn(others.get(task) ?? [])];
    if (of.size === 0 || other.size === 0) continue;
    if (![...of].some((request) => other.has(request))) return undefined;
    shared += 1;
  }
  return shared === 0 ? undefined : shared;
}

const requestsIn = (rows: readonly CaseRow[]): Set<string> =>
  new Set(rows.flatMap((row) => row.first_request ?? []));
