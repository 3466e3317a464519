import { element } from '../parts/element.js';
import { fold } from '../parts/parts.js';

/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */

/** Lines after these have no colours, because each coloured line is an element. */
const LINES_COLOURED = 5000;

/** @typedef {'added' | 'removed' | 'hunk' | 'context' | 'header'} LineKind */
/** @typedef {{ name: string, lines: { kind: LineKind, text: string }[], added: number, removed: number }} FilePatch */

/**
 * A Git patch with one fold per file, and colours for added and removed lines.
 * @param {CaseFile} file
 */
export function patch({ head }) {
  const lines = head.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const rest = lines.slice(LINES_COLOURED);
  return [
    parsePatch(lines.slice(0, LINES_COLOURED)).map(filePatch),
    rest.length === 0
      ? null
      : fold('rest', `${rest.length} more lines`, false, element('pre', { tabindex: 0 }, rest.join('\n'))),
  ];
}

/**
 * @param {FilePatch} file
 * @param {number} index
 */
function filePatch({ name, lines, added, removed }, index) {
  return fold(
    `patch ${index}`,
    [element('code', {}, name), ` +${added} −${removed}`],
    true,
    element('pre', { class: 'patch', tabindex: 0 }, lines.map(line)),
  );
}

/** @type {Record<LineKind, string>} */
const TAGS = { added: 'ins', removed: 'del', hunk: 'b', context: 'span', header: 'i' };

/** @param {FilePatch['lines'][number]} line */
const line = ({ kind, text }) => element(TAGS[kind], {}, text === '' ? ' ' : text);

/**
 * The lines of a Git patch by file. The counts of a hunk decide what a line is, not its first characters, because a
 * removed `-- x` looks like a header.
 * @param {readonly string[]} lines
 * @returns {FilePatch[]}
 */
export function parsePatch(lines) {
  /** @type {FilePatch[]} */
  const files = [];
  let oldLeft = 0;
  let newLeft = 0;
  for (const text of lines) {
    const isInHunk = oldLeft > 0 || newLeft > 0;
    if (!isInHunk && text.startsWith('diff --git ')) {
      files.push({ name: text.slice('diff --git '.length), lines: [], added: 0, removed: 0 });
      continue;
    }
    const file = files.at(-1) ?? { name: '', lines: [], added: 0, removed: 0 };
    if (files.length === 0) files.push(file);
    const hunk = isInHunk ? null : /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(text);
    if (hunk) {
      oldLeft = Number(hunk[1] ?? 1);
      newLeft = Number(hunk[2] ?? 1);
    }
    const kind = hunk ? 'hunk' : isInHunk ? hunkLineKind(text) : 'header';
    if (kind === 'added') file.added++;
    if (kind === 'removed') file.removed++;
    if (isInHunk && kind !== 'added' && kind !== 'header') oldLeft--;
    if (isInHunk && kind !== 'removed' && kind !== 'header') newLeft--;
    file.lines.push({ kind, text });
  }
  return files;
}

/**
 * @param {string} text
 * @returns {LineKind}
 */
function hunkLineKind(text) {
  if (text.startsWith('+')) return 'added';
  if (text.startsWith('-')) return 'removed';
  return text.startsWith('\\') ? 'header' : 'context';
}
