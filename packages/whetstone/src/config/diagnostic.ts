import { WhetstoneError } from '@whetstone/errors';

/** One problem of a configuration: what, where, and how to fix it. */
export type Diagnostic = {
  /** Absolute path of the file with the problem. */
  file: string;
  /** From 1. Absent: the problem is one of the file as a whole, or its place is not known. */
  line?: number;
  /** From 1, in UTF-16 code units, as editors count. Absent without a line. */
  column?: number;
  /** `agents.codex.command`, `tasks[<task-id>].validation.commands[0]`; empty for the file as a whole. */
  path: string;
  message: string;
  /** How to fix it. The first line is printed beside the caret, further lines below the frame. */
  hint?: string;
  severity: 'error' | 'warning';
  /** Absent if there is no source to show, or if the source may contain a secret. */
  frame?: Frame;
};

/** The source lines to show: the offending one last, the keys that lead to it before. */
export type Frame = {
  lines: { number: number; text: string }[];
  /** What to underline in the last line: offset and length in UTF-16 code units. */
  start: number;
  length: number;
};

/** Everything that is wrong with a configuration at once, warnings included. Exit code 2. */
export class ConfigErrors extends WhetstoneError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    const count = errors.length === 1 ? '1 error' : `${errors.length} errors`;
    super('config-invalid', `The configuration has ${count}${first ? `; first: ${describe(first)}` : ''}.`, {
      where: first && placeOf(first),
      hint: first?.hint,
    });
    this.diagnostics = diagnostics;
  }
}

function describe({ path, message }: Diagnostic): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** `file:line:column`, or only the file. `name`: how the file is named. Default: its path. */
export const placeOf = ({ file, line, column }: Diagnostic, name = file): string =>
  [name, line, column].filter((part) => part !== undefined).join(':');

/** Files as they were read, and top to bottom within each. */
export function inFileOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...Map.groupBy(diagnostics, ({ file }) => file).values()].flatMap((ofFile) =>
    ofFile.sort(({ line: a = 0, column: c = 0 }, { line: b = 0, column: d = 0 }) => a - b || c - d),
  );
}
