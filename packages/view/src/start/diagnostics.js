import { element } from '../parts/element.js';
import { badge } from '../parts/parts.js';

/** @import { Diagnostic } from './check.js' */

/**
 * What is wrong, errors first. One in the edited file leads to its line.
 * @param {readonly Diagnostic[]} diagnostics
 * @param {string} file The edited file.
 * @param {(line: number, column: number) => void} goTo
 */
export function findings(diagnostics, file, goTo) {
  if (diagnostics.length === 0) return element('p', { class: 'good' }, 'Nothing is wrong with it.');
  const rank = (/** @type {Diagnostic} */ { severity }) => (severity === 'error' ? 0 : 1);
  return element(
    'ul',
    { class: 'clusters', 'aria-label': 'What is wrong' },
    diagnostics
      .toSorted((a, b) => rank(a) - rank(b))
      .map((one) => {
        const { line, column = 1, hint } = one;
        const place = `${one.file === file ? 'line ' : `${one.file}:`}${line ?? ''}`;
        return element(
          'li',
          { class: 'finding' },
          badge(one.severity, one.severity === 'error' ? 'failed' : 'warn'),
          element(
            'div',
            {},
            element('code', {}, one.path),
            ' ',
            one.message,
            hint === undefined ? null : element('div', { class: 'note' }, hint),
          ),
          line === undefined
            ? element('span', {})
            : one.file === file
              ? element('button', { type: 'button', click: () => goTo(line, column) }, place)
              : element('span', { class: 'note' }, place),
        );
      }),
  );
}
