import { describe, expect, test } from 'vitest';
import { type CaseName, cases } from './__fixtures__/cases.ts';
import { holdToContract } from './__fixtures__/hold-to-contract.ts';
import { notApplicable, reasons } from './__fixtures__/not-applicable.ts';
import { contractRows } from './__fixtures__/rows.ts';

/** Runs in `npm run test:agents` (`agent-contract.agents.test.ts`): it keeps two cores busy for most of a minute. */
const SLOW: CaseName = '200 MB of output are not kept in memory';

const names = (Object.keys(cases) as CaseName[]).filter((name) => name !== SLOW);

describe.concurrent.each(contractRows)('$name', (row) => holdToContract(row, names));

test('every exception names an existing agent, case and reason', () => {
  const rows = contractRows.map(({ name }) => name);
  const table = Object.entries(notApplicable);
  expect(rows).toEqual(expect.arrayContaining(table.map(([agent]) => agent)));
  for (const [, cells] of table) {
    expect(Object.keys(cases)).toEqual(expect.arrayContaining(Object.keys(cells)));
    expect(Object.keys(reasons)).toEqual(expect.arrayContaining(Object.values(cells)));
  }
});
