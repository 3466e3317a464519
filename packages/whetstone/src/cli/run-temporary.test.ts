import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('TMPDIR and HOME may be relative', async () => {
  using project = makeProject();
  project.writeConfig({ environment: { prepare: ['true'] } });
  const ran = await project.whetstone(['run'], { TMPDIR: 'tmp', HOME: 'home' });
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(readdirSync(join(project.root, 'home'))).toEqual(['.cache']);
});
