import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

test('the changelog names the function under Unreleased', () => {
  const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
  const unreleased = changelog.split('## Unreleased')[1]?.split('\n## ')[0] ?? '';
  assert.match(unreleased, /^- .*`initials`/m);
});
