import { afterEach, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project[Symbol.dispose]());

/** The files of each case's folder that `show` lists, in order. */
async function filesShown(): Promise<Record<string, string[]>> {
  const shown = project.latest().rows.map(async ({ agent_name: agent, case_id: id }) => {
    const { stdout } = await project.whetstone(['show', 'latest', id]);
    const paths = (/^Files\n((?: {2}.*\n)*)/m.exec(stdout)?.[1] ?? '').trimEnd().split('\n');
    return [agent, paths.map((path) => path.split(`/${id}/`)[1] ?? path)] as const;
  });
  return Object.fromEntries(await Promise.all(shown));
}

test('the first evidence is the output that explains the failure, and empty files are left out', async () => {
  project = makeProject({
    agents: {
      crashing: 'echo starting; echo no such model >&2; exit 3',
      terse: 'echo the session is over; exit 3',
      slow: { script: 'echo working; echo warming up >&2; sleep 60', keys: { timeout_seconds: 1 } },
      wrong: 'echo thinking; echo x > made',
    },
    tasks: [{ id: 'one', prompt: 'x' }],
    config: { evaluation: { commands: ['echo missing file >&2; false'] } },
  });
  const { stdout } = await project.whetstone(['run', '--jobs', '4']);
  const validation = 'verify/validation-0.stderr.log';
  expect(await filesShown()).toEqual({
    crashing: ['stderr.log', 'stdout.log', validation, 'result.json'],
    terse: ['stdout.log', validation, 'result.json'],
    slow: ['stdout.log', 'stderr.log', validation, 'result.json'],
    wrong: [validation, 'changes.patch', 'stdout.log', 'result.json'],
  });
  expect(
    stdout
      .match(/^ {4}cases\/\S+$/gm)
      ?.map((line) => line.split('trial-1/')[1])
      .toSorted(),
  ).toEqual(['stderr.log', 'stdout.log', 'stdout.log', validation]);
  const { stdout: report } = await project.whetstone(['report', 'latest']);
  expect(report).toMatch(/^ {2}\[agent errors\]\(\S+\) · \[agent output\]\(\S+\) · \[validation errors\]/m);
});
