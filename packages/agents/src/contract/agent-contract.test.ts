import { describe, expect, test } from 'vitest';
import { type CaseName, cases } from './__fixtures__/cases.ts';
import { holdToContract } from './__fixtures__/hold-to-contract.ts';
import { contractRows } from './__fixtures__/rows.ts';

/** Runs in `npm run test:agents` (`agent-contract.agents.test.ts`): it keeps two cores busy for most of a minute. */
const SLOW: CaseName = '200 MB of output stay out of memory';

const names = (Object.keys(cases) as CaseName[]).filter((name) => name !== SLOW);

describe.concurrent.each(contractRows)('$name', (row) => holdToContract(row, names));

test('no case is skipped without a reason', () => {
  const reasons = contractRows.flatMap(({ skips }) => Object.values(skips));
  for (const reason of reasons) expect(reason).toMatch(/\w+ \w+/);
});
