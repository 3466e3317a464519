import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Attack } from './attack.ts';
import { attackClasses } from './attack-classes.ts';
import { missingDataAttacks } from './missing-data-attacks.ts';
import { nodeAttacks } from './node-attacks.ts';
import { processAttacks } from './process-attacks.ts';
import { pythonAttacks } from './python-attacks.ts';
import { reportAttacks } from './report-attacks.ts';
import { settingsAttacks } from './settings-attacks.ts';

const root = join(import.meta.dirname, '../../../../..');
const page = join(root, 'docs/security.md');

test('docs/security.md says what comes of each class of attacks at each level, and which tests play it', async () => {
  expect(attackClasses).toHaveLength(26);
  for (const file of attackClasses.flatMap(({ tests }) => tests))
    expect(existsSync(join(root, file)), file).toBe(true);
  const table = [
    '| Class | `process` | `bubblewrap`, root | `bubblewrap`, user | Played by |',
    '| --- | --- | --- | --- | --- |',
    ...attackClasses.map(({ what, tests, open, sealed, sealedUser = sealed }) => {
      const played = tests.map((file) => `\`${basename(file)}\``).join(', ');
      return `| ${what} | ${open} | ${sealed} | ${sealedUser} | ${played} |`;
    }),
  ].join('\n');
  await expectTable('classes', table);
});

/** `attacks.slow.test.ts` and `missing-data.test.ts` play them. */
test('docs/security.md says which cheats are scored', async () => {
  const cell = ({ fools }: Attack, verdict: Attack['fools'][number]): string =>
    fools.includes(verdict) ? '**scored**' : 'failed';
  const languages = { node: 'Node', python: 'Python', any: 'any' };
  const table = [
    '| An agent that does not do the work | Tests | by exit codes | by `validation.tests` |',
    '| --- | --- | --- | --- |',
    ...[...nodeAttacks, ...pythonAttacks, ...reportAttacks].map(
      (attack) =>
        `| ${attack.what} | ${languages[attack.language]} | ${cell(attack, 'exit-codes')} | ${cell(attack, 'test-report')} |`,
    ),
    ...missingDataAttacks.map(({ what, failure }) => {
      const outcome = failure === 'agent' ? 'failed' : `failed: \`${failure}\``;
      return `| ${what} | any | ${outcome} | ${outcome} |`;
    }),
  ].join('\n');
  await expectTable('verdicts', table);
});

/** `runner-settings.slow.test.ts` plays them. */
test('docs/security.md says what comes of changed settings of runners', async () => {
  const table = [
    '| An agent that does not do the work, and | Runner | by `validation.tests` |',
    '| --- | --- | --- |',
    ...settingsAttacks.map(({ what, runner }) => `| ${what} | ${runner} | failed |`),
  ].join('\n');
  await expectTable('settings', table);
});

/** `masks.slow.test.ts` plays them. */
test('docs/security.md says which attacks masks withstand', async () => {
  const cell = (isScored: boolean): string => (isScored ? '**scored**' : 'failed');
  const table = [
    '| Code under test that | Runner | masks off | masks on |',
    '| --- | --- | --- | --- |',
    ...processAttacks.map(
      ({ what, runner, fools }) =>
        `| ${what} | ${runner} | ${cell(fools.includes('report'))} | ${cell(fools.includes('masks'))} |`,
    ),
  ].join('\n');
  await expectTable('masks', table);
});

/** The page has this table between two comments with its name. */
async function expectTable(name: string, table: string): Promise<void> {
  const written = readFileSync(page, 'utf8');
  const [start, end] = [`<!-- ${name} -->\n`, `\n<!-- end of ${name} -->`];
  const [before = '', rest = ''] = written.split(start);
  const after = rest.slice(rest.indexOf(end));
  await expect(`${before}${start}\n${table}\n${after}`).toMatchFileSnapshot(page);
}
