import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Attack } from './attack.ts';
import { missingDataAttacks } from './missing-data-attacks.ts';
import { nodeAttacks } from './node-attacks.ts';
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
  const written = readFileSync(page, 'utf8');
  const parts = /^([\s\S]*<!-- verdicts -->\n)[\s\S]*(\n<!-- end of verdicts -->[\s\S]*)$/.exec(written);
  await expect(`${parts?.[1]}\n${table}\n${parts?.[2]}`).toMatchFileSnapshot(page);
});
