import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentConfig, DrivenAgentKind } from '@whetstone/agents/config';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OverlayOperation, VariantConfig } from '../config/config.ts';
import { commitAll, makeRepo, makeTempDir, runGit, writeTree } from './__fixtures__/test-repo.ts';
import { instructionNotes, previewInstructions } from './preview-instructions.ts';
import { resolveCommit } from './repository.ts';

let repo: string;
let sources: string;
beforeAll(() => {
  repo = makeRepo({ 'AGENTS.md': 'Old.\n', 'a/AGENTS.md': 'Below.\n', 'eval/CLAUDE.md': 'Withheld.\n' });
  sources = makeTempDir();
  writeTree(sources, { 'rules.md': 'New.\n', 'folder/AGENTS.md': 'New.\n', 'folder/sub/x.md': '' });
});
afterAll(() => {
  for (const folder of [repo, sources]) rmSync(folder, { recursive: true, force: true });
});

const agent = (kind: DrivenAgentKind) =>
  ({ name: kind, kind, runner: 'driver', driver: {} }) as unknown as AgentConfig;

const put = (target: string, source = 'rules.md'): OverlayOperation => ({
  kind: 'copy',
  source: join(sources, source),
  target,
});

async function preview(kind: DrivenAgentKind, variant: Partial<VariantConfig>) {
  const commits = [await resolveCommit(repo, 'HEAD')];
  const variants = [{ name: 'v', description: '', overlays: [], ...variant }];
  const withheld = [{ path: 'eval', what: 'the configuration' }];
  const input = { config: { repo: { path: repo, baseRef: 'HEAD' } }, commits, variants, withheld };
  const previews = await previewInstructions({ ...input, agents: [agent(kind)] });
  const [{ reads, placed, hides } = { reads: [], placed: null, hides: [] }] = previews;
  return { reads, placed, hides, notes: instructionNotes(previews) };
}

const nothing = { placed: null, hides: [], notes: [] };

test('an agent reads what the repository has', async () => {
  expect(await preview('claude-code', {})).toEqual({ ...nothing, reads: ['AGENTS.md'] });
  expect(await preview('gemini-cli', {})).toEqual({ ...nothing, reads: [] });
  expect(await preview('codex-cli', { overlays: [put('.', 'folder')] })).toEqual({
    ...nothing,
    reads: ['AGENTS.md'],
  });
});

test('an overlay that hides what the repository has is named', async () => {
  expect(await preview('claude-code', { overlays: [put('CLAUDE.md')] })).toMatchObject({
    reads: ['CLAUDE.md'],
    notes: ['claude-code no longer reads AGENTS.md because of the variant v: CLAUDE.md hides it.'],
  });
  expect(await preview('copilot', { overlays: [put('CLAUDE.md')] })).toEqual({
    ...nothing,
    reads: ['AGENTS.md', 'CLAUDE.md'],
  });
});

test('an overlay that the agent does not read is named, unless another one of the variant is for it', async () => {
  const overlays = [put('CLAUDE.md')];
  expect((await preview('codex-cli', { overlays })).notes).toEqual([
    'codex-cli does not read the CLAUDE.md of the variant v.',
  ]);
  expect((await preview('codex-cli', { overlays: [...overlays, put('AGENTS.md')] })).notes).toEqual([]);
  const hidden = [put('CLAUDE.local.md'), { kind: 'remove', paths: ['CLAUDE.local.md'] } as const];
  expect((await preview('claude-code', { overlays: hidden as OverlayOperation[] })).notes).toEqual([]);
});

test('instructions go beside those of the repository, or replace them', async () => {
  const instructions = { text: 'New.\n', mode: 'append' } as const;
  expect(await preview('claude-code', { instructions })).toEqual({
    reads: ['AGENTS.md'],
    placed: { path: 'AGENTS.md', mode: 'append' },
    hides: [],
    notes: [],
  });
  expect(await preview('claude-code', { instructions: { ...instructions, mode: 'replace' } })).toEqual({
    reads: ['CLAUDE.md'],
    placed: { path: 'CLAUDE.md', mode: 'replace' },
    hides: ['AGENTS.md', 'a/AGENTS.md'],
    notes: ['The instructions of the variant v replace AGENTS.md, a/AGENTS.md for claude-code.'],
  });
});

/** In another repository. */
async function previewIn(
  files: Record<string, string>,
  kind: DrivenAgentKind,
  variant: Partial<VariantConfig>,
) {
  const before = repo;
  repo = makeRepo(files);
  try {
    return await preview(kind, variant);
  } finally {
    rmSync(repo, { recursive: true });
    repo = before;
  }
}

test('a file that a removed one hid is named', async () => {
  const files = { 'AGENTS.md': 'Old.\n', 'CLAUDE.md': 'Old.\n' };
  const overlays: OverlayOperation[] = [{ kind: 'remove', paths: ['CLAUDE.md'] }];
  expect(await previewIn(files, 'claude-code', { overlays })).toMatchObject({
    reads: ['AGENTS.md'],
    notes: [
      'claude-code now reads AGENTS.md, which a file hid that the overlays of the variant v take away.',
    ],
  });
});

test('a file that another one imports is read', async () => {
  const files = { 'AGENTS.md': 'Old.\n', 'CLAUDE.md': 'See @AGENTS.md, and mail me@example.org.\n' };
  const overlays = [put('AGENTS.md')];
  const reads = ['CLAUDE.md', 'AGENTS.md'];
  expect(await previewIn(files, 'claude-code', { overlays })).toEqual({ ...nothing, reads });
  expect(await previewIn(files, 'claude-code', { overlays: [put('CLAUDE.md')] })).toMatchObject({
    reads: ['CLAUDE.md'],
    notes: ['claude-code no longer reads AGENTS.md because of the variant v: CLAUDE.md hides it.'],
  });
});

test('a file that a symlink leads to is read', async () => {
  const before = repo;
  repo = makeTempDir();
  writeTree(repo, { 'AGENTS.md': 'Old.\n' });
  symlinkSync('AGENTS.md', join(repo, 'GEMINI.md'));
  runGit(repo, ['init', '-q']);
  commitAll(repo, {});
  try {
    const reads = ['GEMINI.md', 'AGENTS.md'];
    expect(await preview('gemini-cli', { overlays: [put('AGENTS.md')] })).toEqual({ ...nothing, reads });
  } finally {
    rmSync(repo, { recursive: true });
    repo = before;
  }
});
