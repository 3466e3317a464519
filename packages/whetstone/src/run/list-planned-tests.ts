import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import type { Mask } from '@whetstone/sandbox';
import type { Workplace } from '../attempt/lab.ts';
import type { Config } from '../config/config.ts';
import type { Plan } from '../plan/plan.ts';
import { judgeWork } from '../verify/judge-work.ts';
import { listTests } from '../verify/list-tests.ts';
import { type MaskingOfTask, planMasks, startKey } from '../verify/masks/plan-masks.ts';

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
): Promise<Config & { maskings: ReadonlyMap<string, MaskingOfTask> }> {
  const { workspaces, environments, sandboxes, services } = workplace;
  const tasks: Config['tasks'] = [];
  const maskings = new Map<string, MaskingOfTask>();
  for (const task of config.tasks) {
    const commit = plan.tasks.find(({ id }) => id === task.id)?.commit;
    if (commit === undefined || !task.validation.tests) {
      tasks.push(task);
      continue;
    }
    const bare = await workspaces.prepare(commit, task.overlays ?? []);
    const equip = async () => (await environments?.equip(bare)) ?? bare;
    const directory = join(scratch, `tests-${tasks.length}`);
    const place = { workspaces, sandboxes, services, ...present({ environments }) };
    const listed = await listTests(task, async (patch) =>
      judgeWork(patch, { task, snapshot: await equip(), ...place, directory, mask, signal }),
    );
    const masking = await planMasks(listed, {
      start: startKey(bare, config.environment),
      judge: async (trial, patch, timeoutSeconds) => {
        const timed = { ...listed, validation: { ...listed.validation, ...present({ timeoutSeconds }) } };
        const snapshot = await equip();
        return judgeWork(patch, { task: timed, snapshot, ...place, directory, mask, signal, trial });
      },
    });
    maskings.set(task.id, masking);
    tasks.push(listed);
  }
  return { ...config, tasks, maskings };
}
