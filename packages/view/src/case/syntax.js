/** @typedef {{ text: string, scope: string | null }} Span `scope`: such as `keyword`; a class of the style sheet. */

/** Longer code has no colours, because they would take seconds. */
const LONGEST = 200_000;

/** Collects flat spans; the emitters of highlight.js make HTML, which this page never reads. */
class Spans {
  /** @type {Span[]} */
  spans = [];
  /** @type {string[]} */
  #scopes = [];

  /** @param {string} text */
  addText(text) {
    this.spans.push({ text, scope: this.#scopes.at(-1) ?? null });
  }
  /** @param {string} scope */
  openNode(scope) {
    this.#scopes.push(scope);
  }
  closeNode() {
    this.#scopes.pop();
  }
  /** @param {string} scope */
  startScope(scope) {
    this.openNode(scope);
  }
  endScope() {
    this.closeNode();
  }
  /** @param {Spans} inner */
  __addSublanguage(inner) {
    this.spans.push(...inner.spans);
  }
  finalize() {}
  toHTML() {
    return '';
  }
}

/** @type {Promise<typeof import('../vendor/highlight.js').default | null> | undefined} */
let loading;

/** Loaded with the first code that is shown; `null` where it is not installed. */
function highlighter() {
  loading ??= import('../vendor/highlight.js').then(
    ({ default: highlight }) => {
      highlight.configure({ __emitter: Spans });
      return highlight;
    },
    () => null,
  );
  return loading;
}

/**
 * The lines of some code as spans; `null` when the language of the path is not known, or the code is too long.
 * @param {string} code
 * @param {string} path
 * @returns {Promise<Span[][] | null>}
 */
export async function highlightedLines(code, path) {
  const highlight = code.length > LONGEST ? null : await highlighter();
  const language = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  if (!highlight?.getLanguage(language)) return null;
  const { _emitter } = highlight.highlight(code, { language, ignoreIllegals: true });
  /** @type {Span[][]} */
  const lines = [[]];
  for (const { text, scope } of _emitter.spans) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, scope });
    }
  }
  return lines;
}
