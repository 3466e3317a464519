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
    const ofAgent = rows.filter((row) => row.agent_name === agent);
    return others.flatMap(({ name: variant }) => {
      const tasks = sharedRequests(ofAgent, baseline, variant);
      if (tasks === undefined) return [];
      const where = tasks === 1 ? 'the task' : `all ${counted(tasks, 'task')}`;
      return `The first model request of ${agent} was the same in ${variant} as in ${baseline}, in ${where} where both are known: the variant did not change what the model gets at the start. "whetstone show RUN CASE" lists the instruction files that were in it.`;
    });
  });
}

/** In how many tasks both arms had an equal first request; `undefined` if in one they had not, or none is known. */
function sharedRequests(rows: readonly CaseRow[], baseline: string, variant: string): number | undefined {
  let shared = 0;
  for (const task of Map.groupBy(rows, (row) => row.task_id).values()) {
    const requests = (name: string) =>
      new Set(task.flatMap((row) => (row.variant === name ? (row.first_request ?? []) : [])));
    const [of, other] = [requests(baseline), requests(variant)];
    if (of.size === 0 || other.size === 0) continue;
    if (![...of].some((request) => other.has(request))) return undefined;
    shared += 1;
  }
  return shared === 0 ? undefined : shared;
}
