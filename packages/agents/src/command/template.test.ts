import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplate } from './template.ts';

describe('parseTemplate', () => {
  it('splits text and variables', () => {
    expect(parseTemplate('a {{b}} {c}{d} }}')).toEqual({
      segments: [
        { kind: 'text', text: 'a {b} ' },
        { kind: 'variable', name: 'c', offset: 8 },
        { kind: 'variable', name: 'd', offset: 11 },
        { kind: 'text', text: ' }' },
      ],
      problems: [],
    });
  });

  it('returns any text whose braces are doubled', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const { segments, problems } = parseTemplate(text.replace(/[{}]/g, '$&$&'));
        expect(problems).toEqual([]);
        expect(segments).toEqual(text === '' ? [] : [{ kind: 'text', text }]);
      }),
    );
  });

  it('marks malformed parts, and always ends', () => {
    const template = 'x {a.b} {c:>3} } { y';
    const problems = parseTemplate(template).problems.map(({ offset, length }) =>
      template.slice(offset, offset + length),
    );
    expect(problems).toEqual(['{a.b}', '{c:>3}', '}', '{']);
    fc.assert(
      fc.property(fc.array(fc.constantFrom('{', '}', 'a', '{a}', ' ')), (parts) => {
        for (const problem of parseTemplate(parts.join('')).problems)
          expect(problem.length).toBeGreaterThan(0);
      }),
    );
  });
});
