import { dirname, resolve } from 'node:path';
import { isMapping } from './check-shape.ts';
import { openSource } from './open-source.ts';

/** A task file that a run does not use, and the folders of hidden tests and of tasks that it names. Paths are absolute. */
export type ReplacedTasks = { file: string; hiddenTests: string[] };

/** Reads the config's own task file where `--tasks` names another one. Whatever is wrong in it does not matter. */
export async function replacedTasks(file: string): Promise<ReplacedTasks> {
  const value = (await openSource(file, []))?.value;
  const tasks: readonly unknown[] = isMapping(value) && Array.isArray(value.tasks) ? value.tasks : [];
  const hiddenTests = tasks.flatMap((task) =>
    isMapping(task) && typeof task.hidden_tests === 'string' && task.hidden_tests !== ''
      ? resolve(dirname(file), task.hidden_tests)
      : [],
  );
  const include: readonly unknown[] = isMapping(value) && Array.isArray(value.include) ? value.include : [];
  const folders = include.flatMap((path) =>
    typeof path === 'string' && path !== '' ? resolve(dirname(file), path) : [],
  );
  return { file, hiddenTests: [...hiddenTests, ...folders] };
}
