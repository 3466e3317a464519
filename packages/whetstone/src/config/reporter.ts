import type { Diagnostic } from './diagnostic.ts';
import { diagnosticAt } from './source-text.ts';
import { locate, type Mark, type YamlPath, type YamlSource } from './yaml-source.ts';

export type FindingOptions = {
  hint?: string | undefined;
  /** What to underline. Default: the value. */
  mark?: Mark;
  /** The value may be a secret: show no source line. */
  secret?: boolean;
};

/** Collects the problems of one YAML file and finds the position of each. */
export type Reporter = {
  readonly yaml: YamlSource;
  error(path: YamlPath, message: string, options?: FindingOptions): void;
  warning(path: YamlPath, message: string, options?: FindingOptions): void;
  /** For findings in other files: prompt templates. */
  add(diagnostic: Diagnostic): void;
};

export function createReporter(yaml: YamlSource, diagnostics: Diagnostic[]): Reporter {
  const report =
    (severity: Diagnostic['severity']) => (path: YamlPath, message: string, options?: FindingOptions) => {
      diagnostics.push(diagnose(yaml, severity, path, message, options));
    };
  return {
    yaml,
    error: report('error'),
    warning: report('warning'),
    add: (diagnostic) => diagnostics.push(diagnostic),
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
export function displayPath(root: unknown, path: YamlPath): string {
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
