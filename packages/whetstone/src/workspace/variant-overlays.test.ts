import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OverlayOperation } from '../config/config.ts';
import { applyOverlays } from './apply-overlays.ts';
import { variantOverlays } from './variant-overlays.ts';

let tree: string;
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'variant-overlays-'));
});
afterEach(() => rmSync(tree, { recursive: true }));

const variant = { name: 'v', description: '' };
const removal: OverlayOperation = { kind: 'remove', paths: ['CLAUDE.md'] };

test('instructions come last, under the file name that the agent reads', () => {
  const instructions = { file: '/rules.md' };
  const declared = { ...variant, overlays: [removal], instructions };
  const copied = { kind: 'copy', source: '/rules.md' };
  expect(variantOverlays(declared, 'CLAUDE.md')).toEqual([removal, { ...copied, target: 'CLAUDE.md' }]);
  expect(variantOverlays(declared, 'AGENTS.md')).toEqual([removal, { ...copied, target: 'AGENTS.md' }]);
  expect(variantOverlays({ ...variant, overlays: [removal] }, 'AGENTS.md')).toEqual([removal]);
});

test('a text becomes a file in place of what is there, without following a link', async () => {
  writeFileSync(join(tree, 'AGENTS.md'), 'Old.\n');
  symlinkSync('AGENTS.md', join(tree, 'CLAUDE.md'));
  const declared = { ...variant, overlays: [], instructions: { text: 'New. ü\n' } };
  await applyOverlays(tree, variantOverlays(declared, 'CLAUDE.md'));
  expect(readFileSync(join(tree, 'CLAUDE.md'), 'utf8')).toBe('New. ü\n');
  expect(readFileSync(join(tree, 'AGENTS.md'), 'utf8')).toBe('Old.\n');
});
