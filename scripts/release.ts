/**
 * `npm run release` releases all packages from a clean `main`; `npm run release -- --dry-run` does the same with a copy
 * of the working tree, without publishing or pushing. CONTRIBUTING.md has the steps.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { rehearseRelease } from './release/rehearse-release.ts';
import { releasePackages } from './release/release-packages.ts';

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });
const work = mkdtempSync(join(tmpdir(), 'whetstone-release-'));
try {
  if (values['dry-run']) await rehearseRelease(work);
  else await releasePackages({ clone: join(import.meta.dirname, '..'), destination: work, dryRun: false });
} finally {
  rmSync(work, { recursive: true, force: true });
}
