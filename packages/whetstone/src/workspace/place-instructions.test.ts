import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drivenAgents, instructionsRead } from '@whetstone/agents/config';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { InstructionsConfig } from '../config/config.ts';
import { writeTree } from './__fixtures__/test-repo.ts';
import { applyOverlays } from './apply-overlays.ts';
import { placeInstructions } from './place-instructions.ts';

let tree: string;
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'place-instructions-'));
});
afterEach(() => rmSync(tree, { recursive: true }));

const paths = (): Set<string> =>
  new Set(
    readdirSync(tree, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1)),
  );

/** Puts `New.` into the tree for an agent. Resolves with what the agent then reads, each with its text. */
async function put(kind: keyof typeof drivenAgents, mode: InstructionsConfig['mode']) {
  const { facts: places } = drivenAgents[kind];
  const { overlays, path, hides } = placeInstructions(paths(), { text: 'New.\n', mode, places });
  await applyOverlays(tree, overlays);
  const read = instructionsRead(places.reads ?? [], paths());
  const texts = read.map((file) => [file, readFileSync(join(tree, file), 'utf8')]);
  return { path, hides, texts: Object.fromEntries(texts) };
}

describe('append', () => {
  test.each([
    ['claude-code', { 'AGENTS.md': 'Old.\n' }, 'AGENTS.md'],
    ['claude-code', { 'AGENTS.md': 'Not read.\n', 'CLAUDE.md': 'Old.\n' }, 'CLAUDE.md'],
    ['claude-code', { 'CLAUDE.local.md': 'Old.\n' }, 'CLAUDE.local.md'],
    ['codex-cli', { 'AGENTS.md': 'Not read.\n', 'AGENTS.override.md': 'Old.\n' }, 'AGENTS.override.md'],
    ['pi', { 'CLAUDE.md': 'Old.\n' }, 'CLAUDE.md'],
    ['opencode-cli', { 'CONTEXT.md': 'Old.\n' }, 'CONTEXT.md'],
  ] as const)('%s keeps what it reads of %j', async (kind, files, path) => {
    writeTree(tree, files);
    expect(await put(kind, 'append')).toEqual({ path, hides: [], texts: { [path]: 'Old.\n\nNew.\n' } });
  });

  test('makes the file of the agent where it reads none', async () => {
    writeTree(tree, { 'AGENTS.md': 'For others.\n', '.gemini/GEMINI.md': 'Not read.\n' });
    const texts = { 'GEMINI.md': 'New.\n' };
    expect(await put('gemini-cli', 'append')).toEqual({ path: 'GEMINI.md', hides: [], texts });
  });

  test('does not take a file of a folder of rules', async () => {
    writeTree(tree, { '.claude/rules/style.md': 'Old.\n' });
    const texts = { '.claude/rules/style.md': 'Old.\n', 'CLAUDE.md': 'New.\n' };
    expect(await put('claude-code', 'append')).toEqual({ path: 'CLAUDE.md', hides: [], texts });
  });

  test('goes to the file that a symlink in the tree leads to, and replaces a symlink out of it', async () => {
    writeTree(tree, { 'AGENTS.md': 'Old, without an end' });
    symlinkSync('AGENTS.md', join(tree, 'CLAUDE.md'));
    symlinkSync('/etc/hostname', join(tree, 'GEMINI.md'));
    expect((await put('claude-code', 'append')).texts).toEqual({
      'CLAUDE.md': 'Old, without an end\n\nNew.\n',
    });
    expect(readlinkSync(join(tree, 'CLAUDE.md'))).toBe('AGENTS.md');
    expect((await put('gemini-cli', 'append')).texts).toEqual({ 'GEMINI.md': 'New.\n' });
  });
});

describe('replace', () => {
  test('takes away all that the agent reads, in folders below too where it reads them there', async () => {
    const files = {
      'AGENTS.md': 'Old.\n',
      'CLAUDE.md': 'Old.\n',
      '.claude/rules/style.md': 'Old.\n',
      'a/CLAUDE.md': 'Old.\n',
      'a/GEMINI.md': 'For others.\n',
    };
    writeTree(tree, files);
    const { hides, texts } = await put('claude-code', 'replace');
    expect(hides.sort()).toEqual(['.claude/rules/style.md', 'AGENTS.md', 'CLAUDE.md', 'a/CLAUDE.md']);
    expect(texts).toEqual({ 'CLAUDE.md': 'New.\n' });
    expect([...paths()].sort()).toEqual(['CLAUDE.md', 'a/GEMINI.md']);
  });

  test('leaves folders below alone where the agent does not read there', async () => {
    writeTree(tree, { 'AGENTS.override.md': 'Old.\n', 'a/AGENTS.md': 'Old.\n' });
    const expected = { path: 'AGENTS.md', hides: ['AGENTS.override.md'], texts: { 'AGENTS.md': 'New.\n' } };
    expect(await put('codex-cli', 'replace')).toEqual(expected);
    expect([...paths()].sort()).toEqual(['AGENTS.md', 'a/AGENTS.md']);
  });
});
