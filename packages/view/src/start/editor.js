import { element } from '../parts/element.js';

/** @import { ConfigText } from '../../../whetstone/src/view/api.ts' */
/** @import { Diagnostic } from './check.js' */

/**
 * A text area with line numbers, in which lines with a problem are marked. Code is only shown.
 * @param {ConfigText} config
 * @param {() => void} changed
 */
export function configEditor({ text, is_code: isCode }, changed) {
  const area = /** @type {HTMLTextAreaElement} */ (
    element('textarea', {
      'aria-label': 'Configuration',
      spellcheck: 'false',
      autocomplete: 'off',
      wrap: 'off',
      readonly: isCode,
    })
  );
  // As it is: replaced characters would be saved.
  area.value = text;
  const gutter = element('div', { class: 'gutter', 'aria-hidden': 'true' });
  /** @type {Map<number, string>} */
  let marks = new Map();
  const draw = () => {
    const count = area.value.split('\n').length;
    area.rows = Math.min(40, Math.max(10, count + 1));
    gutter.replaceChildren(
      ...Array.from({ length: count }, (_, index) =>
        element('div', { class: marks.get(index + 1) ?? null }, index + 1),
      ),
    );
    gutter.scrollTop = area.scrollTop;
  };
  area.addEventListener('input', () => {
    draw();
    changed();
  });
  area.addEventListener('scroll', () => {
    gutter.scrollTop = area.scrollTop;
  });
  draw();
  return {
    node: element(
      'div',
      {},
      isCode ? element('p', { class: 'note' }, 'This configuration is code: edit it in your editor.') : null,
      element('div', { class: 'editor' }, gutter, area),
    ),
    text: () => area.value,
    /** @param {readonly Diagnostic[]} diagnostics */
    mark(diagnostics) {
      marks = new Map(diagnostics.flatMap(({ line, severity }) => (line ? [[line, severity]] : [])));
      draw();
    },
    /** @param {number} line @param {number} column Both from 1. */
    goTo(line, column) {
      const before =
        area.value
          .split('\n')
          .slice(0, line - 1)
          .join('\n').length + (line > 1 ? 1 : 0);
      area.focus();
      area.setSelectionRange(before + column - 1, before + column - 1);
      area.scrollTop = Math.max(0, (line - 5) * (area.scrollHeight / area.value.split('\n').length));
    },
  };
}
