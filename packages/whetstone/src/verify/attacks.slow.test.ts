import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Attack } from '../testkit/attacks/attack.ts';
import { nodeAttacks } from '../testkit/attacks/node-attacks.ts';
import { pythonAttacks } from '../testkit/attacks/python-attacks.ts';
import { reportAttacks } from '../testkit/attacks/report-attacks.ts';
import { systemAttacks } from '../testkit/attacks/system-attacks.ts';
import { attackProject } from './__fixtures__/attack-project.ts';

type Language = Exclude<Attack['language'], 'any'>;

/** Plays attacks on the task of a verdict. Resolves with those that were scored, and with the rows by agent. */
async function play(language: Language, verdict: 'exit-codes' | 'test-report', attacks: readonly Attack[]) {
  using project = attackProject(language, verdict === 'exit-codes' ? 'command' : 'tests', attacks);
  const { exitCode, stderr } = await project.whetstone(['run', '--jobs', '2']);
  expect(exitCode, stderr).toBe(1);
  const rows = new Map(project.latest().rows.map((row) => [row.agent_name, row]));
  expect(rows.get('honest'), rows.get('honest')?.evidence ?? '').toMatchObject({
    outcome: 'passed',
    judged_by: verdict,
  });
  rows.delete('honest');
  expect([...rows.values()].filter(({ outcome }) => outcome === 'error')).toEqual([]);
  const scored = [...rows.values()].filter(({ outcome }) => outcome === 'passed');
  return { rows, scored: scored.map(({ agent_name }) => agent_name) };
}

const fooling = (attacks: readonly Attack[], verdict: Attack['fools'][number]): string[] =>
  attacks.filter(({ fools }) => fools.includes(verdict)).map(({ name }) => name);

/** What is put back holds for both verdicts. Only what then still matters is played on the report as well. */
const forReports = (attacks: readonly Attack[]): readonly Attack[] =>
  attacks.filter(({ name, fools }) => fools.length > 0 || /shim|skip/.test(name));

const reportAttacksOf = (language: Language) => reportAttacks.filter((one) => one.language === language);

const archives = systemAttacks.filter(({ name }) => name === 'archive-slip');

const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0;

/** Plays all attacks on exit codes, and those that then still matter on the report of the tests. */
async function holdTo(
  language: Language,
  attacks: readonly Attack[],
  restored: Record<string, readonly string[]>,
): Promise<void> {
  const { rows, scored } = await play(language, 'exit-codes', attacks);
  expect(scored).toEqual(fooling(attacks, 'exit-codes'));
  for (const [agent, paths] of Object.entries(restored))
    expect(rows.get(agent)?.protected_paths_touched).toEqual(paths);
  const reported = forReports(attacks);
  expect((await play(language, 'test-report', reported)).scored).toEqual(fooling(reported, 'test-report'));
}

test('node: only the attacks that say so are scored', { timeout: 600_000 }, () =>
  holdTo('node', [...nodeAttacks, ...reportAttacksOf('node'), ...archives], {
    'npmrc-shell': ['.npmrc'],
    'trojan-package': ['node_modules/'],
    'hook-script': ['package.json (scripts)'],
  }),
);

test.runIf(hasPytest)(
  'python: only the attacks that say so are scored',
  { timeout: 600_000, tags: 'pytest' },
  () =>
    holdTo('python', [...pythonAttacks, ...reportAttacksOf('python')], {
      conftest: ['conftest.py'],
      'project-options': ['pyproject.toml (pytest)'],
      'entry-point': ['forgiving-1.dist-info/'],
    }),
);
