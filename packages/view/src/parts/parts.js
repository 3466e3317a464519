import { element, nodes } from './element.js';

/** @import { Attributes, Child } from './element.js' */
/** @import { ReadableRun, RunState } from '../../../whetstone/src/view/api.ts' */

/**
 * @param {string} href
 * @param {...Child} children
 */
export const link = (href, ...children) => element('a', { href }, ...children);

/**
 * @param {string} title
 * @param {...Child} children
 */
export const section = (title, ...children) => element('section', {}, element('h2', {}, title), ...children);

/**
 * @typedef {object} Column
 * @property {string} head
 * @property {boolean} [number] Right-aligned.
 */

/**
 * A table that scrolls by itself when the window is too narrow. The first cell of a row is the row's header.
 * @param {string} label
 * @param {readonly Column[]} columns
 * @param {readonly (readonly Child[])[]} rows
 */
export function table(label, columns, rows) {
  /** @param {number} index */
  const alignment = (index) => ({ class: columns[index]?.number ? 'number' : null });
  const head = columns.map((column, index) =>
    element('th', { scope: 'col', ...alignment(index) }, column.head),
  );
  const body = rows.map((cells) =>
    element(
      'tr',
      {},
      cells.map((cell, index) =>
        index === 0
          ? element('th', { scope: 'row', ...alignment(index) }, cell)
          : element('td', alignment(index), cell),
      ),
    ),
  );
  return element(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 },
    element('table', {}, element('thead', {}, element('tr', {}, head)), element('tbody', {}, body)),
  );
}

/** @param {readonly (readonly [string, Child])[]} all */
export const facts = (all) =>
  element(
    'dl',
    {},
    all.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );

/**
 * A coloured word.
 * @param {string} word
 * @param {string} kind A class of the style sheet.
 */
export const badge = (word, kind) => element('span', { class: `badge ${kind}` }, word);

/**
 * Content that can be folded. `key` is unique on the page, so that a fold stays open or closed when the page is redrawn.
 * @param {string} key
 * @param {Child} summary
 * @param {boolean} open
 * @param {...Child} children
 */
export const fold = (key, summary, open, ...children) =>
  element('details', { 'data-key': key, open }, element('summary', {}, summary), ...children);

/** @type {Record<RunState, string>} */
export const STATE_WORDS = { running: 'running', finished: 'finished', stopped: 'stopped early' };

/**
 * `YYYY-MM-DD hh:mm:ss` in the reader's time zone; the text itself when it is not a time.
 * @param {string} at ISO 8601
 */
export function localTime(at) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  return element('time', { datetime: time.toISOString() }, time.toLocaleString('sv-SE'));
}

/**
 * Content that is only drawn once it is unfolded, because it is long and seldom read.
 * @param {string} key
 * @param {Child} summary
 * @param {() => Child} draw
 */
export function lateFold(key, summary, draw) {
  const made = fold(key, summary, false);
  made.addEventListener('toggle', () => made.append(...nodes([draw()])), { once: true });
  return made;
}

/**
 * A number that matters, and what it is.
 * @param {Child} figure
 * @param {Child} what
 */
export const tile = (figure, what) =>
  element(
    'div',
    { class: 'tile' },
    element('p', { class: 'figure' }, figure),
    element('div', { class: 'note' }, what),
  );

/**
 * The outcomes of a run's cases to scale; the numbers stand beside it.
 * @param {ReadableRun['cases']} cases
 */
export function outcomeBar({ planned, passed, failed, error, skipped }) {
  const bar = element('div', { class: 'outcome-bar', 'aria-hidden': 'true' });
  for (const [kind, count] of Object.entries({ passed, failed, error, skipped })) {
    if (count === 0) continue;
    const part = element('span', { class: kind });
    part.style.flexGrow = String(count);
    bar.append(part);
  }
  const rest = element('span', {});
  rest.style.flexGrow = String(planned - passed - failed - error - skipped);
  bar.append(rest);
  return bar;
}
