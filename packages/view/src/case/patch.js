import { isFile } from '../app/server.js';
import { element } from '../parts/element.js';
import { fold } from '../parts/parts.js';
import { parsePatch, pathsOf } from './parse-patch.js';
import { highlightedLines } from './syntax.js';
import { wholeFile } from './whole-file.js';

/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */
/** @import { CaseName } from '../app/address.js' */
/** @import { Child } from '../parts/element.js' */
/** @import { FilePatch, LineKind, PatchLine } from './parse-patch.js' */

/** Lines after these have no colours, because each coloured line is an element. */
const LINES_COLOURED = 5000;

/**
 * A Git patch with one fold per file, line numbers, and the colours of the language.
 * @param {CaseFile} file
 * @param {CaseName} place
 * @param {string} [key] Before the keys of its folds, where a page has two patches.
 */
export function patch({ head }, place, key = '') {
  const lines = head.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const rest = lines.slice(LINES_COLOURED);
  return [
    parsePatch(lines.slice(0, LINES_COLOURED)).map((one, index) =>
      filePatch(one, `${key}patch ${index}`, isFile ? null : wholeFile(place, index, `${key}whole ${index}`)),
    ),
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
 * @param {Child} whole
 */
function filePatch(file, key, whole) {
  const { lines, added, removed } = file;
  const drawn = lines.map(line);
  const { path, from } = pathsOf(file);
  const shown = from === null ? path : `${from} → ${path}`;
  void colour(file, path, drawn);
  const told = drawn.filter((_, index) => !isRepeated(lines[index]));
  return fold(
    key,
    [
      element('code', { title: shown }, shown),
      element('span', { class: 'added' }, ` +${added}`),
      element('span', { class: 'removed' }, ` −${removed}`),
    ],
    true,
    element('pre', { class: 'patch', tabindex: 0 }, told),
    whole,
  );
}

/** Headers that say what stands above the patch, and hashes. @param {PatchLine | undefined} line */
const isRepeated = (line) => line?.kind === 'header' && /^(?:index |--- |\+\+\+ )/.test(line.text);

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
