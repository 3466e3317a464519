import { element } from '../parts/element.js';
import { UNKNOWN } from '../parts/format.js';
import { section, table } from '../parts/parts.js';

/** @import { Child } from '../parts/element.js' */
/** @import { Summary } from '../../../whetstone/src/report/summary.ts' */

/**
 * The passed trials of each category of tasks. Nothing where fewer than two categories are known.
 * @param {Pick<Summary, 'categories'>} summary
 * @returns {Child}
 */
export function categories({ categories: all }) {
  if (all.length === 0) return null;
  const columns = [
    { head: 'Category' },
    { head: 'Variant' },
    { head: 'Agent' },
    { head: 'Passed', number: true },
    { head: 'Without result', number: true },
  ];
  const rows = all.map((cell) => [
    cell.category ?? UNKNOWN,
    cell.variant,
    cell.agent,
    `${cell.passed}/${cell.passed + cell.failed}`,
    cell.error + cell.missing,
  ]);
  return section(
    'Categories',
    table('Categories', columns, rows),
    element(
      'p',
      { class: 'note' },
      `${UNKNOWN}: tasks without a category, or of which nothing has finished. These counts only describe.`,
    ),
  );
}
