import { readFile } from 'node:fs/promises';
import { WhetstoneError } from '@whetstone/errors';
import type { TaskConfig } from '../config/config.ts';
import { expectTests } from './tests/expected-tests.ts';
import type { Verification } from './verify.ts';

/**
 * The task with the tests that have to pass, where it does not name them: they run once on the tree with its `gold_patch`, or
 * on the tree without any work. `judge` verifies a tree with such a patch.
 * @throws WhetstoneError `tests-unknown`
 */
export async function listTests(
  task: TaskConfig,
  judge: (patch: string | null) => Promise<Verification>,
): Promise<TaskConfig> {
  const { goldPatch, validation } = task;
  if (!validation.tests || validation.tests.mustPass.length > 0) return task;
  const isSolved = goldPatch !== undefined;
  const found = await judge(isSolved ? await readFile(goldPatch, 'latin1') : null);
  const problem = found.broken?.evidence ?? (found.tests ? undefined : (found.failure ?? 'they did not run'));
  if (problem !== undefined || !found.tests) {
    throw new WhetstoneError('tests-unknown', `The tests of task ${task.id} cannot be listed: ${problem}.`);
  }
  const expected = expectTests(found.tests, { task: task.id, isSolved });
  return { ...task, validation: { ...validation, tests: { ...validation.tests, ...expected } } };
}
