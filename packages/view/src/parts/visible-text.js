/** Characters that reorder text, hide a part of it, or move a cursor. */
const HIDDEN =
  /\p{Bidi_Control}|(?![\n\t])\p{Cc}|[\u00ad\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Text of unknown origin with everything visible: a character that is invisible, changes the reading direction or is a
 * control character appears as its number. So a patch cannot look like something that it is not.
 * @param {string} text
 */
export function visibleText(text) {
  return text
    .toWellFormed()
    .replace(/\r\n/g, '\n')
    .replace(HIDDEN, (character) => {
      const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
      return `⟨U+${number.padStart(4, '0')}⟩`;
    });
}
