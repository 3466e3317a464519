import { element } from '../parts/element.js';

/** @import { Keys } from './page.js' */

/** The keys of the page that is shown. @type {Keys} */
export const pageKeys = new Map();

/** @type {Keys} */
const everywhere = new Map([
  ['/', { does: 'Search', press: () => search()?.focus() }],
  ['g', { does: 'All runs', press: () => go('#/') }],
  ['u', { does: 'Up: from a case to its run', press: () => up()?.click() }],
  ['?', { does: 'These keys', press: () => showKeys() }],
]);

/** Other names of keys. @type {Record<string, string>} */
const SAME = { ArrowDown: 'j', ArrowUp: 'k', ArrowRight: 'l', ArrowLeft: 'h' };

const search = () => /** @type {HTMLElement | null} */ (document.querySelector('main input[type=search]'));
const up = () => /** @type {HTMLElement | null} */ (document.querySelector('header nav a:last-of-type'));

/** @param {string} hash */
const go = (hash) => {
  location.hash = hash;
};

/** Answers the keys of the shown page and of all pages, but none that the reader types into a field. */
export function listenToKeys() {
  addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof HTMLElement)) return;
    if (document.querySelector('dialog[open]')) return;
    if (target.matches('input, select, textarea')) {
      if (key === 'Escape') target.blur();
      return;
    }
    // Arrows scroll what can be scrolled, unless the reader is in the matrix.
    const name = SAME[key] === undefined || target.matches('.dot') ? (SAME[key] ?? key) : key;
    const found = pageKeys.get(name) ?? everywhere.get(name);
    if (found === undefined) return;
    event.preventDefault();
    found.press();
  });
}

export function showKeys() {
  const rows = [...pageKeys, ...everywhere].map(([key, { does }]) =>
    element('div', {}, element('dt', {}, element('kbd', {}, key)), element('dd', {}, does)),
  );
  const dialog = /** @type {HTMLDialogElement} */ (
    element(
      'dialog',
      { class: 'keys', 'aria-labelledby': 'keys-title', close: () => dialog.remove() },
      element('h2', { id: 'keys-title' }, 'Keys'),
      element(
        'dl',
        {},
        rows,
        element('div', {}, element('dt', {}, element('kbd', {}, 'Enter')), element('dd', {}, 'Open')),
      ),
      element('button', { type: 'button', click: () => dialog.close() }, 'Close'),
    )
  );
  document.body.append(dialog);
  dialog.showModal();
}
