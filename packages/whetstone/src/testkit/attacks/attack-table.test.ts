import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Attack } from './attack.ts';
import { missingDataAttacks } from './missing-data-attacks.ts';
import { nodeAttacks } from './node-attacks.ts';
import { processAttacks } from './process-attacks.ts';
import { pythonAttacks } from './python-attacks.ts';

const page = join(import.meta.dirname, '../../../../../docs/security.md');

/** `attacks.slow.test.ts` and `missing-data.test.ts` play them. */
test('docs/security.md says which cheats are scored', async () => {
  const cell = ({ fools }: Attack, verdict: Attack['fools'][number]): string =>
    fools.includes(verdict) ? '**scored**' : 'failed';
  const languages = { node: 'Node', python: 'Python', any: 'any' };
  const table = [
    '| An agent that does not do the work | Tests | by exit codes | by `validation.tests` |',
    '| --- | --- | --- | --- |',
    ...[...nodeAttacks, ...pythonAttacks].map(
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
