import { oneLine } from '../report/sanitize.ts';

/**
 * Text of unknown origin as code in a comment: shows exactly that text, in a table too. Nothing in it is Markdown, HTML, a
 * mention, a reference or an address, because every other character than a letter, digit or space is a numeric entity.
 */
export const inertCode = (text: string): string =>
  `<code>${oneLine(text, 120).replace(/[^\p{L}\p{N} ]/gu, entity)}</code>`;

/**
 * The same in a sentence, without code: an empty comment after the signs with which GitHub and GitLab begin a reference. A sign
 * that would begin a list is an entity.
 */
export const inertText = (text: string): string =>
  oneLine(text)
    .replace(/[^\p{L}\p{N} .,;()%+−–…:'/-]/gu, entity)
    .replace(/(&#(?:64|35|33|126|36|37|38|94);|%)(?=\S)/g, '$1<!-- -->')
    .replace(/:\/\//g, ':<!-- -->//')
    .replace(/(www)\./gi, '$1<!-- -->.')
    .replace(/\b(GH|gh)-/g, '$1<!-- -->-')
    .replace(/^\//, '&#47;')
    .replace(/^(\s*\d*)([-+.)])/, (_, before: string, sign: string) => before + entity(sign));

const entity = (character: string): string => `&#${character.codePointAt(0)};`;
