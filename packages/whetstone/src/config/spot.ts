import { dirname } from 'node:path';
import type { Diagnostic } from './diagnostic.ts';
import { diagnosticAt } from './source-text.ts';
import {
  keysInOrder,
  locate,
  type Mark,
  writtenScalar,
  type YamlPath,
  type YamlSource,
} from './yaml-source.ts';

export type FindingOptions = {
  hint?: string | undefined;
  /** What to underline. Default: the value. */
  mark?: Mark;
  /** The value may be a secret: show no source line. */
  secret?: boolean;
};

/** A place in a YAML file. What reads the value there reports to it what is wrong. */
export type Spot = {
  readonly path: YamlPath;
  /** Folder of the file: paths in the file are relative to it. */
  readonly directory: string;
  /** The place that these keys and indices lead to from here. */
  at(...below: YamlPath): Spot;
  error(message: string, options?: FindingOptions): void;
  warning(message: string, options?: FindingOptions): void;
  /** Adds a finding in another file that is named here, such as a prompt template. */
  add(diagnostic: Diagnostic): void;
  /** The path in context-eval's notation. */
  shown(): string;
  /** The scalar as it is written (`007`, `1.0`), if YAML does not read it as text. */
  written(): string | undefined;
  keysOf(mapping: object): string[];
};

/** The place at `path` (default: the root) of a YAML file. Findings are added to `diagnostics`. */
export function createSpot(yaml: YamlSource, diagnostics: Diagnostic[], path: YamlPath = []): Spot {
  const report =
    (severity: Diagnostic['severity']) =>
    (message: string, options?: FindingOptions): void => {
      diagnostics.push(diagnose(yaml, severity, path, message, options));
    };
  return {
    path,
    directory: dirname(yaml.file),
    at: (...below) => createSpot(yaml, diagnostics, [...path, ...below]),
    error: report('error'),
    warning: report('warning'),
    add: (diagnostic) => diagnostics.push(diagnostic),
    shown: () => displayPath(yaml.value, path),
    written: () => writtenScalar(yaml, path),
    keysOf: (mapping) => keysInOrder(yaml, path, mapping),
  };
}

export function diagnose(
  yaml: YamlSource,
  severity: Diagnostic['severity'],
  path: YamlPath,
  message: string,
  { hint, mark = 'value', secret = false }: FindingOptions = {},
): Diagnostic {
  const { located, span, leads } = locate(yaml, path, mark);
  const finding = { path: displayPath(yaml.value, path), message, severity, hint };
  const { frame, ...rest } = diagnosticAt(yaml, span, finding, leads);
  return secret || !located || !frame ? rest : { ...rest, frame };
}

/** context-eval's notation: `a.b[0]`, and a task by its id if it has one. */
function displayPath(root: unknown, path: YamlPath): string {
  let shown = '';
  let value = root;
  for (const [depth, segment] of path.entries()) {
    value = isRecordOrArray(value) ? Reflect.get(value, segment) : undefined;
    if (typeof segment === 'string') {
      const plain = /^[\p{L}\p{N}_-]+$/u.test(segment);
      shown += plain ? `${shown === '' ? '' : '.'}${segment}` : `[${JSON.stringify(segment)}]`;
      continue;
    }
    const id =
      depth === 1 && path[0] === 'tasks' && isRecordOrArray(value) ? Reflect.get(value, 'id') : undefined;
    shown += `[${typeof id === 'string' && id.trim() !== '' ? id.trim() : segment}]`;
  }
  return shown;
}

function isRecordOrArray(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
