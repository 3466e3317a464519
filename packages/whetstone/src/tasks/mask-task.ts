import { present } from '@whetstone/events/present';
import type { TaskConfig } from '../config/config.ts';
import { type MaskingOfTask, planMasks } from '../verify/masks/plan-masks.ts';
import type { TaskRoom } from './task-room.ts';

/**
 * How the tests of a task are masked, tried on its solved tree. `task`: with the tests that have to pass. `undefined`: no runner
 * reports its tests.
 * @throws WhetstoneError `masks-unusable`
 */
export async function maskTask(
  task: TaskConfig,
  { room, signal }: { room: TaskRoom; signal: AbortSignal },
): Promise<MaskingOfTask | undefined> {
  if (!task.validation.tests) return undefined;
  return planMasks(task, {
    start: await room.startOf(task),
    judge: (trial, patch, timeoutSeconds) => {
      const timed = { ...task, validation: { ...task.validation, ...present({ timeoutSeconds }) } };
      return room.judge(timed, patch, { signal, trial });
    },
  });
}
