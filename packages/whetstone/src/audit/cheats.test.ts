import { expect, test } from 'vitest';
import { cheatsFor } from './cheats.ts';

test('jobs for later are only left in a sandbox that keeps them from this machine', () => {
  const namesWhere = (isConfined: boolean) =>
    cheatsFor({ sources: [], tests: ['a.test.js'], isConfined }).map(({ name }) => name);
  expect(namesWhere(true)).toContain('leaves-jobs');
  expect(namesWhere(false)).toEqual(namesWhere(true).filter((name) => name !== 'leaves-jobs'));
});
