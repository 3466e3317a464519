import { askChangedFile } from '../app/server.js';
import { element, nodes } from '../parts/element.js';
import { bytes } from '../parts/format.js';
import { lateFold } from '../parts/parts.js';

/** @import { Child } from '../parts/element.js' */
/** @import { ChangedFile } from '../../../whetstone/src/view/api.ts' */
/** @import { CaseName } from '../app/address.js' */

/**
 * The file before and after, which is loaded when a reader unfolds it.
 * @param {CaseName} place
 * @param {number} index
 * @param {string} key
 */
export const wholeFile = (place, index, key) =>
  lateFold(key, 'The whole file', () => {
    const box = element('div', {}, 'Loading …');
    askChangedFile(place.run, place.case, index)
      .then(bothSides, () => 'The server does not answer.')
      .then((content) => box.replaceChildren(...nodes([content])));
    return box;
  });

/**
 * @param {ChangedFile} file
 * @returns {Child}
 */
function bothSides(file) {
  if (file.problem !== null) return element('p', { class: 'note' }, file.problem);
  /** @param {string} title @param {string | null} text */
  const side = (title, text) =>
    element(
      'div',
      { class: 'side' },
      element('h3', {}, title),
      text === null
        ? element('p', { class: 'note' }, 'There was no such file.')
        : element('pre', { tabindex: 0 }, text),
    );
  return [
    element('div', { class: 'two' }, side('Before', file.before), side('After', file.after)),
    file.cut > 0 ? element('p', { class: 'note' }, `${bytes(file.cut)} at the ends left out.`) : null,
  ];
}
