import { caseAddress } from '../app/address.js';
import { element } from '../parts/element.js';
import { link } from '../parts/parts.js';
import { firstDivergence } from './steps.js';

/** @import { CaseName } from '../app/address.js' */
/** @import { Step, StepRow } from './steps.js' */

/** More rows than anybody compares by eye. */
const ROWS_SHOWN = 400;

/**
 * The tool calls of both sides in two columns: equal ones in one row, and the first row where they part is marked.
 * @param {readonly StepRow[]} rows
 * @param {CaseName} a
 * @param {CaseName} b
 */
export function stepTable(rows, a, b) {
  const { at, sentence } = firstDivergence(rows);
  return [
    element('p', { class: 'divergence' }, sentence),
    element(
      'ol',
      { class: 'steps' },
      rows
        .slice(0, ROWS_SHOWN)
        .map((row, index) =>
          element(
            'li',
            { class: [row.isSame ? 'same' : 'differs', index === at ? 'first' : ''].join(' ').trim() },
            step(row.a, a, 'A'),
            step(row.b, b, 'B'),
          ),
        ),
    ),
    rows.length > ROWS_SHOWN
      ? element('p', { class: 'note' }, `${rows.length - ROWS_SHOWN} more rows are left out.`)
      : null,
  ];
}

/**
 * @param {Step | undefined} one
 * @param {CaseName} of
 * @param {string} side
 */
function step(one, of, side) {
  if (one === undefined) return element('div', { class: 'step-cell none' }, '');
  return element(
    'div',
    { class: 'step-cell' },
    element('span', { class: 'side-name' }, side),
    one.said === '' ? null : element('div', { class: 'note' }, cut(one.said, 160)),
    element(
      'div',
      {},
      link(`${caseAddress(of.run, of.case)}?event=${one.index + 1}`, one.name),
      ' ',
      element('code', { class: 'input' }, cut(one.input, 200)),
      one.status === 'completed' ? null : element('span', { class: 'status' }, ` ${one.status}`),
    ),
    one.output === '' ? null : element('pre', { class: 'brief', tabindex: 0 }, cut(one.output, 300)),
  );
}

/**
 * @param {string} text
 * @param {number} length
 */
function cut(text, length) {
  const kept = text.trim().slice(0, length);
  return kept.length < text.trim().length ? `${kept} …` : kept;
}
