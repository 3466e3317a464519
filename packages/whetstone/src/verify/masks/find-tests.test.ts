import { expect, test } from 'vitest';
import type { TestRunnerName } from '../../config/schema.ts';
import { findTests, idMatcher } from './find-tests.ts';

/** Each test of a file: its names, and what it asks for with each of its twins. */
async function twinsOf(
  runner: TestRunnerName,
  file: string,
  text: string,
): Promise<Record<string, string[]>> {
  const found = await findTests(runner, file, text);
  return Object.fromEntries(
    (found?.tests ?? []).map(({ names, twins }) => [
      names.map(String).join(' > '),
      twins.map(({ from, to, same, instead }) => {
        expect(same.length, 'both masks have files of one size').toBe(instead.length);
        const line = (inner: string) => {
          const whole = text.slice(0, from) + inner + text.slice(to);
          const start = whole.lastIndexOf('\n', from) + 1;
          return whole.slice(start, whole.indexOf('\n', from)).trim();
        };
        return line(instead);
      }),
    ]),
  );
}

test('JavaScript: an expected literal becomes another of its look, or the assertion asks for the contrary', async () => {
  const text = `
describe('a', () => {
  it('adds', () => {
    expect(add(1, 1)).toBe(12);
  });
  it.each([[1, 2]])('adds %s and \${x}', (a, b) => {
    assert.deepEqual(add(a, b), { a: ['abc'], [k]: -3 });
  });
  it('throws', async () => {
    await expect(run()).rejects.not.toThrow(/x/);
  });
});
test(\`says \${b}\`, () => equal(say('x'), 'x\\\\n'));
test('is there', function () {
  expect(found).to.be.true;
  assert.ok(found);
});
test.skip('later', () => expect(1).toBe(2));
`;
  expect(await twinsOf('vitest', 'a.test.ts', text)).toEqual({
    'a > adds': ['expect(add(1, 1)).toBe(13);', 'expect(add(1, 1)).not.toBe(12);'],
    'a > /^adds [\\s\\S]* and [\\s\\S]*$/': [
      "assert.deepEqual(add(a, b), { a: ['acb'], [k]: -3 });",
      "assert.deepEqual(add(a, b), { a: ['abc'], [k]: -2 });",
      "assert.notDeepEqual(add(a, b), { a: ['abc'], [k]: -3 });",
    ],
    'a > throws': ['await expect(run()).rejects.    toThrow(/x/);'],
    '/^says [\\s\\S]*$/': [expect.stringContaining("equal(say('x'), 'w\\\\n')")],
    'is there': ['expect(found).to.be.not.true;', 'assert.ok(!(found));'],
  });
});

test('values that are made of literals have twins, but not what goes into a function', async () => {
  const text = `
test('ranks', () => assert.deepStrictEqual(rank(x), Float64Array.of(12)));
test('joins', () => expect(join(x)).toEqual(new Set(['abc'])));
test('maps', () => expect(map(x)).toEqual(Array.from([12], double)));
test('asks', () => expect(ask(x)).toEqual(other(12)));
`;
  expect(await twinsOf('vitest', 'a.test.ts', text)).toEqual({
    ranks: [
      "test('ranks', () => assert.deepStrictEqual(rank(x), Float64Array.of(13)));",
      "test('ranks', () => assert.notDeepStrictEqual(rank(x), Float64Array.of(12)));",
    ],
    joins: [
      "test('joins', () => expect(join(x)).toEqual(new Set(['acb'])));",
      "test('joins', () => expect(join(x)).not.toEqual(new Set(['abc'])));",
    ],
    maps: ["test('maps', () => expect(map(x)).not.toEqual(Array.from([12], double)));"],
    asks: ["test('asks', () => expect(ask(x)).not.toEqual(other(12)));"],
  });
  const python = 'def test_set():\n    assert parts(x) == {12}\n';
  expect((await twinsOf('pytest', 'test_a.py', python)).test_set?.[0]).toBe('assert parts(x) == {13}');
});

test('JavaScript: a table that a loop goes through has a twin for each row whose title and expectation stand in it', async () => {
  const text = `
describe('parse', () => {
  const tests = [{ input: 'a', out: { host: 'abc' } }, { input: "b\\n", out: { host: '' , port: 80 } }, make('c')];
  for (const t of tests) {
    test(t.input.toString(), () => expect(parse(t.input)).toEqual(t.out));
  }
});
const pairs = { '/x': true, y: 'zz' };
for (const [input, expected] of Object.entries(pairs)) it(\`is \${input}\`, () => { assert.equal(is(input), expected); });
for (const [input, , out] of [['a', 1, 'b'], [f(), 2, 'c']]) it('of ' + input, () => { assert.equal(of(input), out); });
for (const { of, out } of [{ of: 'x', out: 1 }]) it(\`of \${of} and \${more(of)}\`, () => { assert.equal(run(of), out); });
for (const { of, out } of [{ of: 'x', out: 1 }]) it(of + out, () => { assert.equal(run(of), out); });
const keys = { k: 1 };
for (const key in keys) { test(key, () => { expect(get(key)).toBe(keys[key]); }); }
const shared = [{ name: 'a', out: 1 }];
for (const { name, out } of shared) test(name, () => expect(run(name)).toBe(out));
for (const { name, out } of shared) test('again ' + name, () => expect(run(out)).toBe(out));
for (const { name, out } of [{ name: 'a', out: 1 }]) test(name, () => expect(back(out)).toBe(out));
`;
  expect(await twinsOf('vitest', 'a.test.ts', text)).toEqual({
    'parse > a': [expect.stringContaining("host: 'acb'")],
    'parse > b\n': [expect.stringContaining('port: 81')],
    'is /x': ["const pairs = { '/x': false, y: 'zz' };"],
    'is y': [expect.stringContaining("'/x': true, y: 'yz'")],
    'of a': [expect.stringContaining("['a', 1, 'a']")],
    '/^of x and [\\s\\S]*$/': [expect.stringContaining("{ of: 'x', out: 0 }")],
    k: ['const keys = { k: 0 };'],
    // What is used elsewhere as well, or is given to the code, is no expectation alone.
    '/^[\\s\\S]*$/': [expect.stringContaining('.not.toBe(out)')],
  });
});

test('a text has twins outside of its escapes and of what is put into it', async () => {
  const text = `
test('escapes', () => expect(f()).toBe('\\x61b\\n'));
test('quotes', () => expect(f()).toBe("it's"));
test('template', () => expect(f()).toBe(\`\${ab}cd\`));
test('joined', () => expect(f()).toBe('ab' + 'cd' + e));
test('typed', () => expect(f()).toBe('ab' as unknown as 'cd'));
test('tagged', () => expect(f()).toBe(dedent\`ab\`));
test('inline', () => { expect(f()).toMatchInlineSnapshot(\`"ab"\`); });
test('new', () => { expect(f()).toMatchInlineSnapshot(); });
test('kept', () => { expect(f()).toMatchSnapshot('ab'); });
`;
  const first = (found: Record<string, string[]>) =>
    Object.fromEntries(
      Object.entries(found).map(([name, twins]) => [name, twins[0]?.replace(/^.*expect\(f\(\)\)/, '')]),
    );
  expect(first(await twinsOf('vitest', 'a.test.ts', text))).toEqual({
    escapes: ".toBe('\\x61a\\n'));",
    quotes: `.toBe("ti's"));`,
    template: `.toBe(\`\${ab}dc\`));`,
    joined: ".toBe('ba' + 'cd' + e));",
    typed: ".toBe('ba' as unknown as 'cd'));",
    tagged: '.not.toBe(dedent`ab`));',
    inline: '.toMatchInlineSnapshot(`"ba"`); });',
    new: undefined,
    kept: undefined,
  });
  const python = `
def test_text():
    assert f() == b'\\x61b'
    assert f() == f'{ab}cd'
    assert f() == '''ab'''
    assert f() == ('ab'
        'cd')
    assert f() == r'\\d{ab}'
    assert f() == set(['ab'])
`;
  const { test_text: twins = [] } = await twinsOf('pytest', 'test_a.py', python);
  expect(twins.filter((twin) => !twin.includes(' not '))).toEqual([
    "assert f() == b'\\x61a'",
    "assert f() == f'{ab}dc'",
    "assert f() == '''ba'''",
    "assert f() == ('ba'",
    "'dc')",
    "assert f() == r'\\d{ba}'",
    "assert f() == set(['ba'])",
  ]);
});

test('a loop in a test counts where its table shows that it has a round, and no round may be left out', async () => {
  const text = `
test('table', () => {
  for (const [input, out] of [['a', 'cd'], [f(), 2]]) expect(run(input)).toBe(out);
});
test('each', () => {
  const rows = [{ of: 'a', out: 1 }];
  rows.forEach(({ of, out }) => { assert.equal(run(of), out); });
});
test('leaves', () => {
  for (const out of [12, 14]) {
    expect(run()).toBe(out);
    if (x) break;
  }
  expect(run()).toBe(12);
});
test('first', () => {
  for (const out of [12, 14]) {
    if (x) continue;
    expect(run()).toBe(out);
  }
});
test('other', () => {
  for (const out of [...all]) expect(run()).toBe(out);
  for (const out of []) expect(run()).toBe(out);
  [1].forEach(async (one) => { expect(await run()).toBe(one); });
});
test('ends', () => {
  for (const out of [12]) { expect(run()).toBe(out); if (x) return; }
  expect(run()).toBe(12);
});
`;
  expect(await twinsOf('vitest', 'a.test.ts', text)).toEqual({
    table: [
      "for (const [input, out] of [['a', 'dc'], [f(), 2]]) expect(run(input)).toBe(out);",
      "for (const [input, out] of [['a', 'cd'], [f(), 3]]) expect(run(input)).toBe(out);",
      "for (const [input, out] of [['a', 'cd'], [f(), 2]]) expect(run(input)).not.toBe(out);",
    ],
    each: [
      "const rows = [{ of: 'a', out: 0 }];",
      'rows.forEach(({ of, out }) => { assert.notEqual(run(of), out); });',
    ],
    leaves: ['expect(run()).not.toBe(out);', 'expect(run()).toBe(13);', 'expect(run()).not.toBe(12);'],
    ...{ first: [], other: [] },
    ends: ['for (const out of [12]) { expect(run()).not.toBe(out); if (x) return; }'],
  });
  const python = `
class TestA(unittest.TestCase):
    def test_table(self):
        rows = [('a', 'cd'), (f(), [2])]
        for of, out in rows:
            with self.subTest(of=of):
                self.assertEqual(run(of), out)
    def test_range(self):
        for one in range(3):
            self.assertEqual(run(one), 12)
    def test_leaves(self):
        for out in (12, 14):
            self.assertEqual(run(), out)
            if x:
                return
        self.assertEqual(run(), 12)
    def test_none(self):
        for out in [*all]:
            self.assertEqual(run(), out)
        for out in all:
            self.assertEqual(run(), out)
        with suppress(AssertionError):
            self.assertEqual(run(), 12)
`;
  expect(await twinsOf('unittest', 'test_a.py', python)).toEqual({
    'TestA > test_table': [
      "rows = [('a', 'dc'), (f(), [2])]",
      "rows = [('a', 'cd'), (f(), [3])]",
      'self.assertNotEqual(run(of), out)',
    ],
    'TestA > test_range': ['self.assertEqual(run(one), 13)', 'self.assertNotEqual(run(one), 12)'],
    'TestA > test_leaves': ['self.assertNotEqual(run(), out)'],
    'TestA > test_none': [],
  });
});

test('Python: an expected exception becomes one of a class that nothing else has', async () => {
  const text = `
def test_call():
    pytest.raises((KeyError, ValueError), run, 1)
def test_with():
    with raises(ValueError, match='x') as caught:
        run()
    assert caught
class TestA(unittest.TestCase):
    def test_warns(self):
        with self.assertWarns(UserWarning):
            run()
`;
  expect(await twinsOf('pytest', 'test_a.py', text)).toEqual({
    test_call: ["pytest.raises(type('E', (Exception,), {}), run, 1)"],
    test_with: ["with raises(type('E', (Exception,), {}), match='x') as caught:", 'assert not (caught)'],
    'TestA > test_warns': ["with self.assertWarns(type('E', (Warning,), {})):"],
  });
});

test('an assertion counts only where no end of the test can come before it, and no condition stands around it', async () => {
  const text = `
test('loops', () => {
  for (const one of all) expect(one).toBe(1);
  if (x) expect(one).toBe(1);
  if (y) return;
  expect(one).toBe(1);
});
test('leaves out', (t) => {
  if (x) t.skip();
  expect(one).toBe(1);
});
`;
  expect(await twinsOf('node-test', 'a.test.js', text)).toEqual({ loops: [], 'leaves out': [] });
});

test('Python: assert statements and methods of unittest', async () => {
  const text = `
class TestA(unittest.TestCase):
    def test_one(self):
        self.assertEqual(add(1, 1), [2, 'ab'])
        self.assertIn(1, found)
    @unittest.skip('later')
    def test_later(self):
        self.assertEqual(1, 2)
@pytest.mark.parametrize('a', [1])
def test_two(a):
    assert add(a) == 7.25, 'message'
    assert found
def test_skips():
    pytest.skip()
    assert add(1) == 2
`;
  expect(await twinsOf('pytest', 'test_a.py', text)).toEqual({
    'TestA > test_one': [
      "self.assertEqual(add(1, 1), [3, 'ab'])",
      "self.assertEqual(add(1, 1), [2, 'ba'])",
      "self.assertNotEqual(add(1, 1), [2, 'ab'])",
      'self.assertNotIn(1, found)',
    ],
    test_two: [
      "assert add(a) == 7.35, 'message'",
      "assert not (add(a) == 7.25), 'message'",
      'assert not (found)',
    ],
    test_skips: [],
  });
});

test('an id belongs to the test of its file and names, a row of a table to its table', () => {
  const isOf = (runner: TestRunnerName, names: (string | RegExp)[], id: string) =>
    idMatcher(runner, 'pkg/tests/test_a.py', names, 'pkg')(id);
  expect(isOf('pytest', ['A', 'test_x'], 'tests/test_a.py::A::test_x[1-a]')).toBe(true);
  expect(isOf('pytest', ['A', 'test_x'], 'tests/test_a.py::A::test_xy')).toBe(false);
  expect(isOf('unittest', ['A', 'test_x'], 'tests.test_a.A.test_x')).toBe(true);
  expect(isOf('vitest', ['a', /^b [\s\S]*$/], 'pkg/tests/test_a.py > a > b 1')).toBe(true);
  expect(isOf('mocha', ['a', 'b (1)'], 'pkg/tests/test_a.py > a b (1)')).toBe(true);
  expect(isOf('vitest', ['a', 'b'], 'pkg/tests/test_a.py > a > bc')).toBe(false);
});

test('Python: a test that other classes inherit is theirs as well', async () => {
  const text = `
class Base:
    def test_one(self):
        assert one() == 1
class Middle(Base):
    pass
class Last(Middle, unittest.TestCase):
    def test_one(self):
        assert one() == 2
`;
  const { tests = [] } = (await findTests('pytest', 'test_a.py', text)) ?? {};
  const ids = ['Base', 'Middle', 'Last', 'Other'].map((name) => `test_a.py::${name}::test_one`);
  const owned = tests.map(({ names }) => ids.filter(idMatcher('pytest', 'test_a.py', names)));
  expect(owned).toEqual([ids.slice(0, 3), ids.slice(2, 3)]);
  const isOf = idMatcher('unittest', 'test_a.py', tests[0]?.names ?? []);
  expect(['test_a.Middle.test_one', 'test_a.Middle.test_ones'].map(isOf)).toEqual([true, false]);
});
