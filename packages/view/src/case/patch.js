import { element } from '../parts/element.js';
import { fold } from '../parts/parts.js';
import { highlightedLines } from './syntax.js';

/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */

/** Lines after these have no colours, because each coloured line is an element. */
const LINES_COLOURED = 5000;

/** @typedef {'added' | 'removed' | 'hunk' | 'context' | 'header'} LineKind */
/**
 * One line; `old` and `now` are its numbers before and after, where it has them.
 * @typedef {{ kind: LineKind, text: string, old?: number, now?: number }} PatchLine
 */
/** @typedef {{ name: string, lines: PatchLine[], added: number, removed: number }} FilePatch */

/**
 * A Git patch with one fold per file, line numbers, and the colours of the language.
 * @param {CaseFile} file
 * @param {string} [key] Before the keys of its folds, where a page has two patches.
 */
export function patch({ head }, key = '') {
  const lines = head.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const rest = lines.slice(LINES_COLOURED);
  return [
    parsePatch(lines.slice(0, LINES_COLOURED)).map((one, index) => filePatch(one, `${key}patch ${index}`)),
    rest.length === 0
      ? null
      : fold(
          `${key}rest`,
          `${rest.length} more lines`,
          false,
          element('pre', { tabindex: 0 }, rest.join('\n')),
        ),
  ];
}

/**
 * @param {FilePatch} file
 * @param {string} key
 */
function filePatch(file, key) {
  const { name, lines, added, removed } = file;
  const drawn = lines.map(line);
  const shown = pathOf(name);
  void colour(file, shown, drawn);
  const told = drawn.filter((_, index) => !isRepeated(lines[index]));
  return fold(
    key,
    [
      element('code', { title: name }, shown),
      element('span', { class: 'added' }, ` +${added}`),
      element('span', { class: 'removed' }, ` −${removed}`),
    ],
    true,
    element('pre', { class: 'patch', tabindex: 0 }, told),
  );
}

/** Headers that say what stands above the patch, and hashes. @param {PatchLine | undefined} line */
const isRepeated = (line) => line?.kind === 'header' && /^(?:index |--- |\+\+\+ )/.test(line.text);

/** `a/src/x.js b/src/x.js` → `src/x.js`; a renamed file keeps both names. @param {string} name */
function pathOf(name) {
  const half = (name.length - 1) / 2;
  const isSame = name.startsWith('a/') && name.slice(2, half) === name.slice(half + 3);
  return isSame ? name.slice(2, half) : name;
}

/** @type {Record<LineKind, string>} */
const TAGS = { added: 'ins', removed: 'del', hunk: 'b', context: 'span', header: 'i' };

/** @param {PatchLine} line */
const line = ({ kind, text, old, now }) =>
  element(TAGS[kind], { 'data-old': old ?? null, 'data-now': now ?? null }, text === '' ? ' ' : text);

/**
 * Colours the lines once the highlighter is there: what was removed as the old code has it, everything else as the new.
 * @param {FilePatch} file
 * @param {string} path
 * @param {readonly HTMLElement[]} drawn
 */
async function colour({ lines }, path, drawn) {
  for (const side of /** @type {const} */ (['removed', 'added'])) {
    const indices = [...lines.keys()].filter((index) => {
      const kind = lines[index]?.kind;
      return kind === side || kind === 'context';
    });
    const code = indices.map((index) => lines[index]?.text.slice(1) ?? '').join('\n');
    const coloured = await highlightedLines(code, path);
    if (coloured === null) return;
    for (const [at, index] of indices.entries()) {
      const sign = lines[index]?.text.slice(0, 1) ?? ' ';
      const spans = coloured[at] ?? [];
      if (spans.length === 0 || (side === 'removed' && lines[index]?.kind === 'context')) continue;
      drawn[index]?.replaceChildren(
        sign,
        ...spans.map(({ text, scope }) =>
          element('span', scope === null ? {} : { class: `s-${scope.split('.')[0]}` }, text),
        ),
      );
    }
  }
}

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
  let old = 0;
  let now = 0;
  for (const text of lines) {
    const isInHunk = oldLeft > 0 || newLeft > 0;
    if (!isInHunk && text.startsWith('diff --git ')) {
      files.push({ name: text.slice('diff --git '.length), lines: [], added: 0, removed: 0 });
      continue;
    }
    const file = files.at(-1) ?? { name: '', lines: [], added: 0, removed: 0 };
    if (files.length === 0) files.push(file);
    const hunk = isInHunk ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
    if (hunk) {
      old = Number(hunk[1]);
      now = Number(hunk[3]);
      oldLeft = Number(hunk[2] ?? 1);
      newLeft = Number(hunk[4] ?? 1);
    }
    const kind = hunk ? 'hunk' : isInHunk ? hunkLineKind(text) : 'header';
    /** @type {PatchLine} */
    const line = { kind, text };
    if (kind === 'added') file.added++;
    if (kind === 'removed') file.removed++;
    if (isInHunk && (kind === 'removed' || kind === 'context')) {
      oldLeft--;
      line.old = old++;
    }
    if (isInHunk && (kind === 'added' || kind === 'context')) {
      newLeft--;
      line.now = now++;
    }
    file.lines.push(line);
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
