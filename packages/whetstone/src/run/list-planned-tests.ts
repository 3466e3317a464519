import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import type { Mask } from '@whetstone/sandbox';
import type { Workplace } from '../attempt/lab.ts';
import type { Config } from '../config/config.ts';
import type { Plan } from '../plan/plan.ts';
import { judgeWork } from '../verify/judge-work.ts';
import { listTests } from '../verify/list-tests.ts';

/**
 * The configuration with the tests of each planned task that does not name them. They are listed before any agent runs, so that
 * nothing that an agent does decides which tests count.
 */
export async function listPlannedTests(
  config: Config,
  plan: Plan,
  {
    workplace,
    scratch,
    mask,
    signal,
  }: { workplace: Workplace; scratch: string; mask: Mask; signal: AbortSignal },
): Promise<Config> {
  const { workspaces, environments, sandboxes, services } = workplace;
  const tasks: Config['tasks'] = [];
  for (const task of config.tasks) {
    const commit = plan.tasks.find(({ id }) => id === task.id)?.commit;
    const listed = commit
      ? await listTests(task, async (patch) => {
          const bare = await workspaces.prepare(commit, task.overlays ?? []);
          const snapshot = (await environments?.equip(bare)) ?? bare;
          const directory = join(scratch, `tests-${tasks.length}`);
          const place = { workspaces, sandboxes, services, ...present({ environments }) };
          return judgeWork(patch, { task, snapshot, ...place, directory, mask, signal });
        })
      : task;
    tasks.push(listed);
  }
  return { ...config, tasks };
}
