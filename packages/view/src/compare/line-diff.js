import { element } from '../parts/element.js';
import { fold } from '../parts/parts.js';

/** Equal lines that are shown around a difference. */
const AROUND = 3;
/** A difference of more lines than this is not computed: the texts stand one below the other. */
const MOST_EDITS = 4000;

/** @type {Promise<typeof Diff> | undefined} */
let loading;

/** The package `diff`, loaded with the first difference that is shown. */
export function differ() {
  loading ??= import('../vendor/diff.js').then(() => globalThis.Diff);
  return loading;
}

/** @typedef {{ kind: 'same' | 'added' | 'removed', lines: string[] }} Chunk */

/**
 * The difference of two texts by line. Long equal parts are folded.
 * @param {string} key Unique on the page.
 * @param {string} a
 * @param {string} b
 * @param {typeof Diff} library
 */
export function lineDiff(key, a, b, library) {
  if (a === b) return element('p', { class: 'note' }, 'The same text on both sides.');
  const parts = library.diffLines(ended(a), ended(b), { maxEditLength: MOST_EDITS });
  /** @type {Chunk[]} */
  const chunks = (
    parts ?? [
      { value: a, removed: true, added: false },
      { value: b, removed: false, added: true },
    ]
  ).map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    lines: value.replace(/\n$/, '').split('\n'),
  }));
  return element(
    'div',
    { class: 'line-diff' },
    chunks.map((chunk, index) =>
      drawChunk(`${key} ${index}`, chunk, index === 0, index === chunks.length - 1),
    ),
  );
}

/** @param {string} text */
const ended = (text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

/**
 * @param {string} key
 * @param {Chunk} chunk
 * @param {boolean} isFirst
 * @param {boolean} isLast
 */
function drawChunk(key, { kind, lines }, isFirst, isLast) {
  if (kind !== 'same') return block(kind, lines);
  const before = isFirst ? 0 : AROUND;
  const after = isLast ? 0 : AROUND;
  if (lines.length <= before + after + 2) return block(kind, lines);
  const hidden = lines.slice(before, lines.length - after);
  return [
    before > 0 ? block(kind, lines.slice(0, before)) : null,
    fold(key, `${hidden.length} equal lines`, false, block(kind, hidden)),
    after > 0 ? block(kind, lines.slice(-after)) : null,
  ];
}

/** @type {Record<Chunk['kind'], [tag: string, sign: string]>} */
const TAGS = { added: ['ins', '+'], removed: ['del', '−'], same: ['span', ' '] };

/**
 * @param {Chunk['kind']} kind
 * @param {readonly string[]} lines
 */
function block(kind, lines) {
  const [tag, sign] = TAGS[kind];
  return element(tag, { class: 'block', 'data-sign': sign }, lines.join('\n') || ' ');
}
