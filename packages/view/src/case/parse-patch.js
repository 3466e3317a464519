/** @typedef {'added' | 'removed' | 'hunk' | 'context' | 'header'} LineKind */
/**
 * One line; `old` and `now` are its numbers before and after, where it has them.
 * @typedef {{ kind: LineKind, text: string, old?: number, now?: number }} PatchLine
 */
/** @typedef {{ name: string, lines: PatchLine[], added: number, removed: number }} FilePatch */

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
      files.push({ name: unquoted(text.slice('diff --git '.length)), lines: [], added: 0, removed: 0 });
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
 * The path of a file, as people know it: `src/x.js` for `a/src/x.js b/src/x.js`. `from`: the path before, of a file that
 * was renamed or copied.
 * @param {FilePatch} file
 * @returns {{ path: string, from: string | null }}
 */
export function pathsOf({ name, lines }) {
  /** @param {'from' | 'to'} side */
  const moved = (side) => {
    const start = new RegExp(`^(?:rename|copy) ${side} (.*)`);
    const found = lines.flatMap(({ kind, text }) => (kind === 'header' ? (start.exec(text)?.[1] ?? []) : []));
    return found[0] === undefined ? null : unquoted(found[0]);
  };
  const half = (name.length - 1) / 2;
  const isSame = name.startsWith('a/') && name.slice(2, half) === name.slice(half + 3);
  return { path: moved('to') ?? (isSame ? name.slice(2, half) : name), from: moved('from') };
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

/**
 * Git quotes a name with a quote, a backslash or other than ASCII, and writes its bytes in octal. What nobody could see stays quoted.
 * @param {string} names
 */
function unquoted(names) {
  return names.replace(/"((?:[^"\\]|\\.)*)"/g, (quoted, /** @type {string} */ inside) => {
    const bytes = inside.replace(/\\(?:([0-7]{3})|(.))/g, (_, octal, sign) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return sign === '"' || sign === '\\' ? sign : '\0'; // a control character, such as \t
    });
    const name = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
    return /[\p{C}\ufffd]/u.test(name) ? quoted : name;
  });
}
