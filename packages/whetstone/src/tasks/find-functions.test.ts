import { expect, test } from 'vitest';
import { openFunctionFinder } from './find-functions.ts';

const finder = await openFunctionFinder();

/** The text without the code of its functions, and their names. */
async function emptied(path: string, text: string) {
  const functions = await finder(path, text);
  let rest = text;
  for (const { from, to, instead } of functions.toReversed())
    rest = rest.slice(0, from) + instead + rest.slice(to);
  return { names: functions.map(({ name, lines }) => `${name} ${lines}`), rest };
}

test('the code of functions is taken out of TypeScript; types, comments and what is around stay', async () => {
  const text = `/** Ä é 🦊 */
export function add(a: number, b: number): number {
  const inner = () => a;
  return inner() + b;
}
export class Parser<T> {
  constructor(readonly text: T) { this.next(); }
  next(): T { return this.text; }
  later = async () => ({ a: 1 });
  #none() {}
}
declare function outside(): void;
run(() => { setUp(); });
export default <T>(x: T) => x;
`;
  const { names, rest } = await emptied('src/a.mts', text);
  expect(names).toEqual(['add 2', 'Parser.next 1', 'Parser.later 1', 'default 1']);
  expect(rest).toBe(`/** Ä é 🦊 */
export function add(a: number, b: number): number {
  throw new Error('add is not written yet');
}
export class Parser<T> {
  constructor(readonly text: T) { this.next(); }
  next(): T {
    throw new Error('Parser.next is not written yet');
  }
  later = async () => {
    throw new Error('Parser.later is not written yet');
  };
  #none() {}
}
declare function outside(): void;
run(() => { setUp(); });
export default <T>(x: T) => {
  throw new Error('default is not written yet');
};
`);
});

test('JavaScript and JSX: functions that are assigned have the name of their target', async () => {
  const text =
    'exports.one = function () { return 1; };\nmodule.exports = (a) => a;\nconst o = { two() { return <b>2</b>; } };\n';
  const { names } = await emptied('lib/a.jsx', text);
  expect(names).toEqual(['one 1', 'exports 1', 'two 1']);
});

test('Python: the text that documents a function stays, and so do decorators', async () => {
  const text = `class Cache:
    def __init__(self):
        self.a = 1

    @property
    def size(self):
        """How many.

        Never negative.
        """
        # counted
        return self.a

async def later(): yield 1
`;
  const { names, rest } = await emptied('cache.py', text);
  expect(names).toEqual(['Cache.size 1', 'later 1']);
  expect(rest).toContain(`        Never negative.
        """
        # counted
        raise NotImplementedError('Cache.size is not written yet')

async def later(): raise NotImplementedError('later is not written yet')
`);
});

test('a file that cannot be parsed, and one of another language, have no functions', async () => {
  expect(await finder('a.ts', 'function (')).toEqual([]);
  expect(await finder('a.go', 'func a() { return }')).toEqual([]);
});
