import { assertCount, assertString } from './assert.js';

/**
 * Breaks a text into lines of at most `width` characters, at spaces. A word that is longer than a line stands alone.
 * Paragraphs, which are separated by an empty line, stay apart.
 */
export function wrap(text, width = 80) {
  assertString(text, 'text');
  assertCount(width, 'width', 1);
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => wrapParagraph(paragraph, width))
    .join('\n\n');
}

function wrapParagraph(paragraph, width) {
  const lines = [];
  let line = '';
  for (const word of paragraph.split(/\s+/).filter(Boolean)) {
    if (line === '') {
      line = word;
    } else if (line.length + 1 + word.length <= width) {
      line += ` ${word}`;
    } else {
      lines.push(line);
      line = word;
    }
  }
  if (line !== '') lines.push(line);
  return lines.join('\n');
}
