import { expect, test } from 'vitest';
import { fits, mayFit, UNKNOWN } from './text-pattern.ts';

test('a star stands for any text, also with unknown parts on the other side', () => {
  expect(fits('npm test*', 'npm test -- x')).toBe(true);
  expect(fits('npm test', 'npm test -- x')).toBe(false);
  expect(fits('*.npmjs.org', 'registry.npmjs.org')).toBe(true);
  expect(fits('a*', `${UNKNOWN}`)).toBe(false);
  expect(mayFit('git push*', `git ${UNKNOWN}`)).toBe(true);
  expect(mayFit('git push*', `git s${UNKNOWN}`)).toBe(false);
  expect(mayFit('git push*', UNKNOWN)).toBe(true);
});
