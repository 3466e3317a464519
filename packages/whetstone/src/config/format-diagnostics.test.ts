import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from './diagnostic.ts';
import { formatDiagnostics } from './format-diagnostics.ts';

function diagnosticOn(text: string, mark: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const start = text.indexOf(mark);
  return {
    file: '/project/whetstone.yaml',
    line: 7,
    column: start + 1,
    path: 'a.b',
    message: 'is wrong',
    severity: 'error',
    frame: { lines: [{ number: 7, text }], start, length: mark.length },
    ...more,
  };
}

const format = (diagnostic: Diagnostic) => formatDiagnostics([diagnostic], { color: false, cwd: '/project' });

describe('formatDiagnostics', () => {
  it('shows place, path, message, source, caret and hint', () => {
    expect(format(diagnosticOn('  b: {x}', '{x}', { hint: 'write y\nknown: y, z' }))).toBe(
      [
        'whetstone.yaml:7:6  a.b: is wrong',
        '  7 │   b: {x}',
        '    │      ^^^ write y',
        '  known: y, z',
        '',
      ].join('\n'),
    );
  });

  it('puts the caret under the offending text, also behind wide characters, marks and tabs', () => {
    const [, , caret] = format(diagnosticOn('漢字 e\u0301🙂\tX', 'X')).split('\n');
    expect(caret).toBe(`    │ ${' '.repeat(4 + 1 + 1 + 2 + 1)}^`);
  });

  it('cuts a long line around the offending text', () => {
    const [, source, caret] = format(diagnosticOn(`${'a'.repeat(500)}HERE${'🙂'.repeat(500)}`, 'HERE')).split(
      '\n',
    );
    expect(source?.length).toBeLessThan(120);
    expect(source?.slice(caret?.indexOf('^'), (caret?.lastIndexOf('^') ?? 0) + 1)).toBe('HERE');
    expect(source?.isWellFormed()).toBe(true);
  });

  it('names files outside the current directory in full', () => {
    expect(format(diagnosticOn('x', 'x', { file: '/elsewhere/tasks.yaml' }))).toMatch(
      /^\/elsewhere\/tasks.yaml:7:1 /,
    );
  });

  it('prints the same in colour', () => {
    const diagnostic = diagnosticOn('  b: {x}', '{x}', { hint: 'write y', severity: 'warning' });
    const colored = formatDiagnostics([diagnostic], { color: true, cwd: '/project' });
    expect(colored).not.toBe(format(diagnostic));
    expect(stripVTControlCharacters(colored)).toBe(format(diagnostic));
  });
});
