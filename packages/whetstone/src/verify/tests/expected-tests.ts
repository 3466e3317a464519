import { WhetstoneError } from '@whetstone/errors';
import type { TaskTests } from '../../config/config.ts';
import type { TestReport } from './test-runner.ts';

/** Every id of these reports beyond those that must pass, as often as one report has it: what `others` of a task states. */
export function otherTests(reports: readonly TestReport[], mustPass: readonly string[]): string[] {
  const most = new Map<string, number>();
  for (const { tests, counts } of reports)
    for (const id of tests.keys()) most.set(id, Math.max(most.get(id) ?? 0, counts?.get(id) ?? 1));
  for (const id of mustPass) most.set(id, (most.get(id) ?? 1) - 1);
  return [...most].flatMap(([id, count]) => Array.from({ length: count }, () => id));
}

/**
 * The tests that a task expects, from the report of a tree: of the solved tree those that passed, else all that were collected
 * and not skipped.
 * @throws WhetstoneError `tests-unknown`: the report does not say what the tests are.
 */
export function expectTests(
  report: TestReport,
  { task, isSolved }: { task: string; isSolved: boolean },
): Pick<TaskTests, 'mustPass' | 'others'> {
  const { tests, problems } = report;
  const wanted = [...tests].filter(([, status]) => (isSolved ? status === 'passed' : status !== 'skipped'));
  const mustPass = wanted.map(([id]) => id);
  if (mustPass.length === 0 || problems.length > 0) {
    const tree = isSolved ? 'with its gold_patch' : 'without any work';
    const why = problems.length > 0 ? problems.join('; ') : 'none of them counts';
    throw new WhetstoneError('tests-unknown', `The tests of task ${task} cannot be listed ${tree}: ${why}.`, {
      hint: 'Name the ids in validation.tests.must_pass, or the patch that solves the task in gold_patch.',
    });
  }
  return { mustPass, others: otherTests([report], mustPass) };
}
