import { expect, test } from 'vitest';
import { addRelease } from './changelog.ts';

const release = {
  version: '0.2.0',
  date: '2026-12-01',
  changes: [
    { summary: 'A fix.', bump: 'patch' },
    { summary: 'A command.\nIt has two lines.\n', bump: 'minor' },
  ],
} as const;

test.each([
  ['older releases', '# Changelog\n\n## 0.1.0\n\n- The start.\n', '\n## 0.1.0\n\n- The start.\n'],
  ['no release yet', '# Changelog\n', ''],
])('a release goes on top, its largest changes first: %s', (_name, before, after) => {
  expect(addRelease(before, release)).toBe(
    `# Changelog\n\n## 0.2.0 (2026-12-01)\n\n- A command.\n  It has two lines.\n- A fix.\n${after}`,
  );
});
