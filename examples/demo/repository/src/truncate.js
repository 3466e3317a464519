import { assertCount, assertString } from './assert.js';

const ELLIPSIS = '…';

/**
 * Shortens a text to at most `width` characters. A text that was cut ends in an ellipsis, which counts.
 */
export function truncate(text, width) {
  assertString(text, 'text');
  assertCount(width, 'width', 1);
  if (text.length < width) return text;
  return text.slice(0, width - 1) + ELLIPSIS;
}
