import { messageOf } from '@whetstone/errors';
import { isAlias, isMap, isPair, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import type { Diagnostic } from './diagnostic.ts';
import { diagnosticAt, type Finding, type SourceText, type Span } from './source-text.ts';

/** Keys and list indices from the root of a YAML document. */
export type YamlPath = readonly (string | number)[];

/** A YAML file with its positions. */
export type YamlSource = SourceText & {
  root: Node | null;
  /** The document as plain values; `undefined` if it is not readable YAML. */
  value: unknown;
  resolve: (node: unknown) => unknown;
};

/** What a diagnostic underlines: the value at the path, its key, or a piece of text within the value. */
export type Mark = 'value' | 'key' | { text: string };

/** Parses a YAML 1.2 document (merge keys allowed). Syntax errors and duplicate keys come back as diagnostics. */
export function parseYaml(source: SourceText): { yaml: YamlSource; diagnostics: Diagnostic[] } {
  const document = parseDocument(source.text, {
    prettyErrors: false,
    merge: true,
    logLevel: 'error', // at 'silent', a second document is dropped without a word
    uniqueKeys: (a, b) => isScalar(a) && isScalar(b) && String(a.value) === String(b.value),
  });
  const diagnostics = [
    ...document.errors.map((error) => syntaxDiagnostic(source, error, 'error')),
    ...document.warnings.map((warning) => syntaxDiagnostic(source, warning, 'warning')),
  ];
  const yaml: YamlSource = {
    ...source,
    root: document.contents,
    value: undefined,
    resolve: (node) => (isAlias(node) ? node.resolve(document) : node),
  };
  if (document.errors.length > 0) return { yaml, diagnostics };
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    assertAcyclic(value, new Set());
    return { yaml: { ...yaml, value }, diagnostics };
  } catch (error) {
    const message = `invalid YAML: ${messageOf(error)}`;
    const finding = { path: '', message, severity: 'error' } as const;
    return { yaml, diagnostics: [...diagnostics, diagnosticAt(source, { offset: 0, length: 1 }, finding)] };
  }
}

type YamlProblem = { code: string; message: string; pos: [number, number] };

function syntaxDiagnostic(source: SourceText, problem: YamlProblem, severity: Finding['severity']) {
  const [start, end] = problem.pos;
  const duplicate = problem.code === 'DUPLICATE_KEY';
  if (problem.code === 'MULTIPLE_DOCS') {
    const hint = 'only one document per file is read; move the others into files of their own';
    const finding = { path: '', severity, message: 'this file has a second YAML document', hint };
    return diagnosticAt(source, { offset: start, length: 3 }, finding);
  }
  const key = source.text.slice(start).match(/^("[^"\n]*"|'[^'\n]*'|[^:\n]+?)\s*:/)?.[1] ?? '';
  return diagnosticAt(
    source,
    { offset: start, length: duplicate ? Math.max(1, key.length) : end - start },
    {
      path: '',
      severity,
      message: duplicate ? `duplicate key ${key}`.trimEnd() : `invalid YAML: ${firstLine(problem.message)}`,
      hint: duplicate ? 'the same key appears above; keep one of them' : undefined,
    },
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}

function assertAcyclic(value: unknown, ancestors: Set<object>): void {
  if (typeof value !== 'object' || value === null) return;
  if (ancestors.has(value)) throw new Error('an alias (*) refers to something that contains it');
  ancestors.add(value);
  for (const child of Object.values(value)) assertAcyclic(child, ancestors);
  ancestors.delete(value);
}

export type Located = { located: boolean; span: Span; leads: number[] };

/** The span of a value, or of its nearest parent (`located: false` if none), and of the keys above it, nearest last. */
export function locate(yaml: YamlSource, path: YamlPath, mark: Mark): Located {
  let value: unknown = yaml.root;
  let key: unknown;
  const keys: Node[] = [];
  let complete = true;
  for (const segment of path) {
    const next = childOf(yaml, value, segment);
    if (!next) {
      complete = false;
      break;
    }
    value = next.value;
    key = next.key;
    if (isNode(key)) keys.push(key);
  }
  const located = keys.length > 0;
  const keySpan = spanOf(key) ?? { offset: 0, length: 1 };
  const offsets = keys.flatMap((node) => spanOf(node)?.offset ?? []);
  if (mark === 'key' || !complete) return { located, span: keySpan, leads: offsets.slice(-2, -1) };
  const leads = offsets.slice(-2);
  const valueSpan = spanOf(value) ?? keySpan;
  if (mark === 'value') return { located, span: firstLineOf(yaml, value, valueSpan, keySpan), leads };
  const at = yaml.text.slice(valueSpan.offset, valueSpan.offset + valueSpan.length).indexOf(mark.text);
  if (at === -1) return { located, span: valueSpan, leads };
  return { located, span: { offset: valueSpan.offset + at, length: mark.text.length }, leads };
}

/** A block mapping or list is better shown by its key than by all of its lines. */
function firstLineOf(yaml: YamlSource, value: unknown, span: Span, keySpan: Span): Span {
  const block = (isMap(value) || isSeq(value)) && value.flow !== true;
  if (block && keySpan.offset > 0) return keySpan;
  const newline = yaml.text.slice(span.offset, span.offset + span.length).indexOf('\n');
  return newline === -1 ? span : { offset: span.offset, length: Math.max(1, newline) };
}

function childOf(yaml: YamlSource, parent: unknown, segment: string | number) {
  const node = yaml.resolve(parent);
  if (isSeq(node)) {
    const item = node.items[Number(segment)];
    return item === undefined ? undefined : { value: item, key: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(segment));
  return pair && { value: pair.value, key: pair.key };
}

/** Keys of a mapping in file order: plain objects would move number-like keys to the front. */
export function keysInOrder(yaml: YamlSource, path: YamlPath, value: object): string[] {
  const mapping = nodeAt(yaml, path);
  const written = isMap(mapping)
    ? mapping.items.flatMap((pair) => (isPair(pair) && isScalar(pair.key) ? [String(pair.key.value)] : []))
    : [];
  const present = Object.keys(value);
  return [
    ...written.filter((key) => present.includes(key)),
    ...present.filter((key) => !written.includes(key)),
  ];
}

/** A scalar as it is written (`007`, `1.0`), if YAML does not read it as text. */
export function writtenScalar(yaml: YamlSource, path: YamlPath): string | undefined {
  const scalar = nodeAt(yaml, path);
  return isScalar(scalar) && typeof scalar.source === 'string' ? scalar.source : undefined;
}

function nodeAt(yaml: YamlSource, path: YamlPath): unknown {
  let node: unknown = yaml.root;
  for (const segment of path) node = childOf(yaml, node, segment)?.value;
  return yaml.resolve(node);
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value) || isAlias(value);
}

function spanOf(node: unknown): Span | undefined {
  if (!isNode(node) || !node.range) return undefined;
  const [start, end] = node.range;
  return end > start ? { offset: start, length: end - start } : undefined;
}
