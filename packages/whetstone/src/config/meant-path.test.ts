import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';
import { meantPath } from './meant-path.ts';

test('a path that does not exist is said to be the one beside it that is much like it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'meant-path-test-'));
  try {
    writeFileSync(join(folder, 'whetstone.yaml'), 'repo: {path: .}\n');
    const near = join(folder, 'whetston.yaml');
    expect(meantPath(near)).toBe('did you mean whetstone.yaml?');
    expect(meantPath(join(folder, 'report.md'))).toBeUndefined();
    expect(meantPath(join(folder, 'no-folder', 'whetstone.yaml'))).toBeUndefined();
    await expect(loadConfig(near)).rejects.toMatchObject({
      diagnostics: [{ message: 'this file does not exist: did you mean whetstone.yaml?' }],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
