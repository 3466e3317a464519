import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('npm does not ask for a newer npm in the clean room, so no failure names the registry', async () => {
  const commands = ['npm config get update-notifier | grep --line-regexp false'];
  using project = makeProject({ tasks: [{ id: 'one', prompt: 'Do it.', validation: { commands } }] });
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  expect(project.latest().rows).toMatchObject([{ outcome: 'passed' }]);
});
