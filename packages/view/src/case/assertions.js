import { section, table } from '../parts/parts.js';

/** @import { CaseRow } from '../../../whetstone/src/record/row.ts' */
/** @typedef {NonNullable<CaseRow['assertions']>[number]} Assertion */

const COLUMNS = [{ head: 'Result' }, { head: 'Assertion' }, { head: 'Where' }, { head: 'Why' }];

/**
 * What an eval asserted, those that did not pass first.
 * @param {readonly Assertion[]} assertions
 */
export function assertionTable(assertions) {
  const rank = (/** @type {Assertion} */ { status }) => (status === 'passed' ? 1 : 0);
  const rows = assertions
    .toSorted((a, b) => rank(a) - rank(b))
    .map((one) => [
      [one.status, ...(one.severity === 'soft' ? ['soft'] : []), ...(one.optional ? ['optional'] : [])].join(
        ', ',
      ),
      [one.group, one.label ?? one.name].filter((part) => part !== undefined).join(' › '),
      one.at ? `${one.at.file}:${one.at.line}` : '',
      one.message,
    ]);
  return section('Assertions', table('Assertions', COLUMNS, rows));
}
