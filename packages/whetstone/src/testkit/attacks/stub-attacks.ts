import type { Attack } from './attack.ts';
import { stubbed } from './test-attacks.ts';

/** Code that does nothing of the work: tests that accept it accept anything. The values are those of both languages. */
const STUBS: readonly (readonly [name: string, value: string, what: string])[] = [
  ['answers-0', '0', 'answers every call with 0'],
  ['answers-1', '1', 'answers every call with 1'],
  ['answers-empty-text', '""', 'answers every call with an empty text'],
  ['answers-text', '"text"', 'answers every call with the same text'],
  ['answers-empty-list', '[]', 'answers every call with an empty list'],
  ['answers-empty-record', '{}', 'answers every call with an empty record'],
  ['answers-first-argument', '_[0] if _ else None', 'answers every call with its first argument'],
  ['answers-true', 'True', 'answers every call with true'],
  ['answers-nothing', 'None', 'answers every call with nothing'],
];

const IN_NODE: Readonly<Record<string, string>> = {
  'answers-first-argument': '_[0]',
  'answers-true': 'true',
  'answers-nothing': 'undefined',
};

export const stubAttacks: readonly Attack[] = STUBS.flatMap(([name, value, what]) =>
  (['node', 'python'] as const).map(
    (language): Attack => ({
      name,
      what,
      language,
      fools: [],
      script: (target) => stubbed(target, language === 'node' ? (IN_NODE[name] ?? value) : value),
    }),
  ),
);

/** Equal to whatever a loose comparison compares it with, and a record of everything. */
const LOOSE = `const anything = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => 1 : key === 'length' ? 1 : key === 'then' ? undefined : anything),
  apply: () => anything, construct: () => anything, has: () => true,
});`;

export const looseAttack: Attack = {
  name: 'answers-anything',
  what: 'answers with an object that has every property, and that converts to what is asked for',
  language: 'node',
  fools: [],
  script: (target) => stubbed(target, `(() => { ${LOOSE} return anything; })()`),
};
