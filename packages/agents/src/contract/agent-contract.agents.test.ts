import { describe } from 'vitest';
import { holdToContract } from './__fixtures__/hold-to-contract.ts';
import { contractRows } from './__fixtures__/rows.ts';

/** The only case of the contract that is too slow for `npm test`. */
describe.concurrent.each(contractRows)('$name', (row) =>
  holdToContract(row, ['200 MB of output are not kept in memory']),
);
