import { assertString } from './assert.js';

/**
 * Turns a title into a part of a URL: lower case, accents dropped, everything else a single dash.
 */
export function slugify(title) {
  assertString(title, 'title');
  return title
    .normalize('NFKD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
