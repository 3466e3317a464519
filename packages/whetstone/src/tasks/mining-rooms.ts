import type { Draft } from './draft.ts';
import type { Refusal } from './refusal.ts';
import { openSolvedRuns } from './solved-runs.ts';
import { openTaskRoom, type TaskRoom } from './task-room.ts';
import { type ValidateOptions, type Validation, validateDraft } from './validate.ts';

type RoomOptions = Parameters<typeof openTaskRoom>[0];
type DraftTask = Parameters<typeof validateDraft>[1];

/** Where drafts are validated. */
export type MiningRooms = AsyncDisposable & {
  validate(draft: Draft, task: DraftTask, options: ValidateOptions): Promise<ValidatedIn | Refusal>;
};

/** `room`: where the task can be judged again. `needsScripts`: it lacks something where the project's scripts do not run. */
export type ValidatedIn = { validation: Validation; room: TaskRoom; needsScripts: boolean };

/**
 * Drafts are validated without the installation scripts of the project, and again with them where something is lacking. Once
 * a task has needed them, all others get them at once. `withScripts`: the environment with them; absent: there is only one.
 */
export async function openMiningRooms(
  options: RoomOptions,
  scripts: { withScripts: RoomOptions['environment']; areNeeded: boolean },
): Promise<MiningRooms> {
  const { withScripts } = scripts;
  let areNeeded = scripts.areNeeded && withScripts !== undefined;
  const solvedRuns = openSolvedRuns();
  const opened = new AsyncDisposableStack();
  const open = async (environment: RoomOptions['environment']) =>
    opened.use(await openTaskRoom({ ...options, environment }));
  const first = await open(areNeeded ? withScripts : options.environment);
  let second: Promise<TaskRoom> | undefined;
  return {
    async validate(draft, task, asked) {
      const how = { ...asked, solvedRuns };
      const room = areNeeded && second ? await second : first;
      const validation = await validateDraft(draft, task, room, how);
      if (!('refused' in validation)) return { validation, room, needsScripts: false };
      if (areNeeded || !withScripts || !validation.mayLack || how.signal.aborted) return validation;
      second ??= open(withScripts);
      const other = await second;
      const again = await validateDraft(draft, task, other, how);
      if ('refused' in again) return validation;
      areNeeded = true;
      return { validation: again, room: other, needsScripts: true };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
