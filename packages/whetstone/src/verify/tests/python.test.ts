import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir } from '../../workspace/__fixtures__/test-repo.ts';
import { pythonUnittest } from './python.ts';
import type { Variation } from './test-runner.ts';

const YEAR = new Date().getFullYear();
const TESTS = `import time, unittest
from datetime import date, datetime, timezone
seen = []
class Order(unittest.TestCase):
    def test_first(self):
        seen.append(1)
    def test_second(self):
        self.assertEqual(seen, [1])
class Date(unittest.TestCase):
    def test_kept(self):
        self.assertEqual(type(datetime.now(timezone.utc) - datetime(2020, 1, 1, tzinfo=timezone.utc)).__name__, 'timedelta')
        self.assertLess(abs(datetime.now().timestamp() - time.time()), 60)
        self.assertLess(abs(datetime.utcnow().replace(tzinfo=timezone.utc).timestamp() - time.time_ns() / 10**9), 60)
        self.assertEqual(time.strftime('%Y-%m-%d'), str(date.today()))
        self.assertEqual(time.localtime(0).tm_year, 1970)
    def test_until(self):
        self.assertLess(date.today().year, ${YEAR + 2})
`;

/** How the tests end, by name. */
function play(vary: Variation): Record<string, string> {
  const [tree, folder] = [makeTempDir(), makeTempDir()];
  writeFileSync(join(tree, 'own.py'), TESTS);
  const {
    script,
    args,
    env,
    files: own = {},
  } = pythonUnittest.invoke({ files: ['own.py'], options: [] }, folder, vary);
  for (const [name, text] of Object.entries(own)) writeFileSync(join(folder, name), text);
  try {
    execFileSync('sh', ['-c', script, 'sh', ...args], {
      cwd: tree,
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
  } catch {
    // A test has failed.
  }
  const report = readFileSync(join(folder, 'report'), 'utf8');
  const { tests, problems, hasTodaysDate } = pythonUnittest.read({ report, relative: (path) => path });
  expect({ problems, hasTodaysDate }).toEqual({ problems: [] });
  return Object.fromEntries([...tests].map(([id, status]) => [id.split('.').at(-1), status]));
}

test('tests of unittest that depend on their order or on the date fail when these change', () => {
  const all = { test_first: 'passed', test_kept: 'passed', test_second: 'passed', test_until: 'passed' };
  expect(play({})).toEqual(all);
  expect(play({ order: true })).toEqual({ ...all, test_second: 'failed' });
  expect(play({ date: true })).toEqual({ ...all, test_until: 'failed' });
});

test('a run that could not have another date says so', () => {
  const report = [
    ['', 'date', 'skipped'],
    ['a', 'call', 'passed'],
    ['', 'end', 'passed'],
  ]
    .map((line) => JSON.stringify(line))
    .join('\n');
  const read = pythonUnittest.read({ report, relative: (path) => path });
  expect(read).toMatchObject({ hasTodaysDate: true, problems: [], tests: new Map([['a', 'passed']]) });
});
