import { isDeviceName } from '@whetstone/sandbox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import { type CaseName, nameCases } from './case-id.ts';

const idOf = (task: string, variant: string, agent: string) =>
  nameCases([{ task, variant, agent, trial: 1 }])[0];

describe('nameCases', () => {
  it('keeps plain names as they are', () => {
    expect(idOf('fix-1.2_x', 'baseline', 'codex')).toBe('fix-1.2_x__baseline__codex__trial-1');
  });

  it.each([
    ['a b', 'v', 'a-b'],
    ['Fix', 'v', 'fix'],
    ['a__b', 'v', 'a_b'],
    ['_a', 'v', 'a'],
    ['..', 'v', 'x'],
    ['-rf', 'v', 'rf'],
    ['漢字', 'v', 'x'],
    ['con.txt', 'v', 'x-con.txt'],
    ['x'.repeat(61), 'v', 'x'.repeat(60)],
  ])('marks a name that does not come through: %s', (task, variant, slug) => {
    expect(idOf(task, variant, 'agent')).toMatch(new RegExp(`^${slug}__v__agent__trial-1-[0-9a-f]{8}$`));
  });

  it('gives every case its own id, safe as a file name on every system', () => {
    const piece = fc.constantFrom(
      'a',
      'A',
      'b',
      '_',
      '__',
      '-',
      '.',
      ' ',
      '/',
      'con',
      'NUL',
      'trial-1',
      'ß',
      'é',
      'e\u0301',
      '\n',
    );
    const name = fc.oneof(
      fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 80 }),
    );
    const names = fc.uniqueArray(name, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(names, names, names, (tasks, variants, agents) => {
        const cases = tasks.flatMap((task) =>
          variants.flatMap((variant) =>
            agents.flatMap((agent) => [1, 2].map((trial): CaseName => ({ task, variant, agent, trial }))),
          ),
        );
        const ids = nameCases(cases);
        expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(cases.length);
        // One assertion for all: there are tens of thousands.
        const unsafe = ids.filter(
          (id) => !/^[a-z0-9][a-z0-9_.-]{0,239}$/.test(id) || /[. ]$/.test(id) || isDeviceName(id),
        );
        expect(unsafe).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
