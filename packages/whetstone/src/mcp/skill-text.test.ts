import { expect, test } from 'vitest';
import { isUnchanged, skillText } from './skill-text.ts';

test('the skill of any version is known as ours, until somebody changes it', () => {
  for (const version of ['0.1.0', '12.0.0-beta.1']) expect(isUnchanged(skillText(version))).toBe(true);
  expect(isUnchanged(skillText('0.1.0').replace('Set a budget.', ''))).toBe(false);
  expect(isUnchanged('')).toBe(false);
});

test('the skill has the front matter that agents read', () => {
  expect(skillText('0.1.0')).toMatch(
    /^---\nname: whetstone\ndescription: .+\nmetadata:\n {2}sha256: \w{16}\n {2}version: 0\.1\.0\n---\n/,
  );
});
