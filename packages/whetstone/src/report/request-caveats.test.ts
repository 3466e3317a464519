import { expect, test } from 'vitest';
import type { CaseResult } from './case-results.ts';
import { aboutTheRequests } from './request-caveats.ts';

const run = {
  agents: [{ name: 'pi', kind: 'pi', version: null, fingerprint: 'a' }],
  variants: [
    { name: 'old', description: '', fingerprint: '1' },
    { name: 'new', description: '', fingerprint: '2' },
    { name: 'twin', description: '', fingerprint: '1' },
  ],
  baseline: 'old',
};

/** One case per entry: task, variant, first request. */
const cases = (entries: readonly [string, string, string | null | undefined][]): CaseResult[] =>
  entries.map(([task_id, variant, first_request]) => {
    const row = { agent_name: 'pi', task_id, variant, first_request };
    return { row } as CaseResult;
  });

test('a variant whose first requests are those of the baseline is named', () => {
  const said = aboutTheRequests(
    run,
    cases([
      ['a', 'old', 'x'],
      ['a', 'new', 'x'],
      ['b', 'old', 'y'],
      ['b', 'old', 'z'],
      ['b', 'new', 'z'],
      ['c', 'old', null],
      ['c', 'new', 'w'],
      ['a', 'twin', 'x'],
    ]),
  );
  expect(said).toEqual([
    'The first model request of pi was the same in new as in old, in all 2 tasks where both are known: the variant did not change what the model gets at the start. "whetstone show RUN CASE" lists the instruction files that were in it.',
  ]);
});

test('one task with another request is enough, and nothing is said where no request is known', () => {
  expect(
    aboutTheRequests(
      run,
      cases([
        ['a', 'old', 'x'],
        ['a', 'new', 'x'],
        ['b', 'old', 'y'],
        ['b', 'new', 'z'],
      ]),
    ),
  ).toEqual([]);
  expect(
    aboutTheRequests(
      run,
      cases([
        ['a', 'old', null],
        ['a', 'new', null],
        ['b', 'new', undefined],
      ]),
    ),
  ).toEqual([]);
});
