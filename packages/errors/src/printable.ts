/**
 * Text of unknown origin, such as a part of a file, as a message can show it: what no terminal prints, or what would steer it, is
 * written as its number (`\u001b`). Line breaks and tabs stay.
 */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
