import { afterAll, expect, test } from 'vitest';
import { hasBubblewrap } from '../../../sandbox/src/__fixtures__/has-bubblewrap.ts';
import { goodSuite, weakSuite } from '../audit/__fixtures__/audited-suites.ts';
import { auditTasks, countPlanted } from '../audit/__fixtures__/count-planted.ts';

const weak = weakSuite();
const good = goodSuite(hasBubblewrap ? 'bubblewrap' : 'process');
afterAll(() => {
  weak[Symbol.dispose]();
  good[Symbol.dispose]();
});

// Some tasks of both suites: all of them with all cheats take an hour.
test('planted defects are found, as findings of JUnit too, and are kept for the next audit', {
  timeout: 300_000,
}, async () => {
  const chosen = ['order', 'reward', 'wrong'];
  const { audits, exitCode, stderr, junit } = await auditTasks(weak, chosen);
  expect(exitCode, stderr).toBe(5);
  expect(countPlanted(audits)).toEqual({ planted: 3, missed: [] });
  expect(junit).toContain('<testsuite name="wrong"');
  expect(junit).toMatch(/<failure type="oracle-fails" message="gold">/);
  const again = await auditTasks(weak, chosen);
  const withoutTime = (all: typeof audits) => all.map(({ seconds: _, ...audit }) => audit);
  expect(withoutTime(again.audits)).toEqual(withoutTime(audits));
  expect(again.audits.reduce((sum, { seconds }) => sum + seconds, 0)).toBeLessThan(
    audits.reduce((sum, { seconds }) => sum + seconds, 0),
  );
});

test('nothing is found in good tasks', { timeout: 300_000 }, async () => {
  const { audits, exitCode, stderr } = await auditTasks(good, ['median']);
  expect(audits.flatMap(({ findings }) => findings)).toEqual([]);
  expect(exitCode, stderr).toBe(0);
});

test.each([
  [['--task', 'none'], 'Unknown task "none"'],
  [['--cheat', 'exit-early'], 'Unknown cheat "exit-early"'],
  [['--only', 'cheat'], 'It must be some of cheats, mutants, refactors, flaky'],
  [['nowhere.yaml'], 'nowhere.yaml'],
])('audit %j is refused: %s', async (args, message) => {
  const { stderr, exitCode } = await weak.whetstone(['audit', ...args]);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});
