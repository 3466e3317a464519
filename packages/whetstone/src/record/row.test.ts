import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failureClasses } from './row.ts';

test('the page on results describes every class, under its outcome', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/results.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(?<name>[a-z-]+)` +\| `(?<outcome>failed|error)` +\|/gm)];
  const described = Map.groupBy(rows, ({ groups }) => groups?.outcome);
  const namesOf = (outcome: string) => (described.get(outcome) ?? []).map(({ groups }) => groups?.name);
  expect(namesOf('failed')).toEqual(failureClasses.failed);
  expect(namesOf('error')).toEqual(failureClasses.error);
});
