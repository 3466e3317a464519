import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { present } from '@whetstone/events/present';
import { createMask } from '@whetstone/sandbox';
import { expect, test } from 'vitest';
import type { HistoryCommit } from './scan-history.ts';
import { promptsBefore, readSessionTurns, type SessionTurn, sessionsIn } from './session-prompts.ts';

const commit = (date: string, previousDate?: string): HistoryCommit => ({
  ...{ commit: 'c', parent: 'p', date, message: '' },
  files: [{ path: 'src/a.ts', change: 'modified', kind: 'source', lines: 1 }],
  ...present({ previousDate }),
});
const turn = (day: number, prompt: string, touched = '', session = 's'): SessionTurn => ({
  ...{ session, prompt, touched, roots: ['/home/me/project'], from: 'packages' },
  at: Date.parse(`2026-01-${String(day).padStart(2, '0')}T12:00:00Z`),
});

test('the prompts since the commit before, up to the last turn that touched a source, are the statement', () => {
  const turns = [
    turn(1, 'Too early', '../src/a.ts'),
    turn(3, 'Plan it'),
    turn(4, 'Do it', 'cat /home/me/project/src/a.ts'),
    turn(4, 'Elsewhere', '../src/b.ts', 'other'),
    turn(5, 'Thanks', 'cat /home/me/other/src/a.ts src/a.ts ../lib/src/a.ts ../src/a.tsx'),
    turn(9, 'Too late', '../src/a.ts'),
  ];
  expect(promptsBefore(commit('2026-01-06T00:00:00Z', '2026-01-02T00:00:00Z'), turns)).toEqual([
    { grade: 'session', text: 'Plan it\n\nDo it', source: 'session s' },
  ]);
  expect(promptsBefore(commit('2026-01-06T00:00:00Z', '2026-01-05T00:00:00Z'), turns)).toEqual([]);
  const [start] = promptsBefore(commit('2026-01-02T00:00:00Z'), [
    turn(1, 'First', "sed -i '' ./../src/a.ts"),
  ]);
  expect(start?.text).toBe('First');
});

test('sessions of released agents have prompts, times and what was touched; those of other folders are left out', async () => {
  const mask = createMask(['Compact']);
  const prompts: string[] = [];
  const native = join(import.meta.dirname, '../../../agents/src/native');
  for (const folder of ['pi/__fixtures__/pi-0.87.1', 'qwen-code/__fixtures__/qwen-code-0.24.4']) {
    const turns = await readSessionTurns([join(native, folder)], { workTree: '/workspace', mask });
    expect(await readSessionTurns([join(native, folder)], { workTree: '/work', mask })).toEqual([]);
    prompts.push(...turns.map(({ prompt }) => prompt));
    expect(turns.length, folder).toBeGreaterThan(0);
    expect(turns.filter(({ prompt, at }) => prompt !== '' && at > 0)).toHaveLength(turns.length);
    expect(
      turns.some(({ touched }) => touched !== ''),
      folder,
    ).toBe(true);
  }
  expect(prompts).toContain('[masked] please.');
});

test('sessions in a folder are found where Claude Code, Codex, pi and Gemini keep them', async () => {
  const home = mkdtempSync(join(tmpdir(), 'sessions-'));
  const native = join(import.meta.dirname, '../../../agents/src/native');
  const kept = {
    '.claude/projects/-workspace/a.jsonl': 'claude-code/__fixtures__/claude-code-2.1.330/compaction',
    'codex/sessions/2026/11/22/rollout-a.jsonl': 'codex-cli/__fixtures__/codex-0.169.0/main',
    '.pi/agent/sessions/workspace/a.jsonl': 'pi/__fixtures__/pi-0.87.1/main',
    '.gemini/tmp/workspace/chats/session-a.jsonl': 'gemini-cli/__fixtures__/gemini-0.61.0/main',
  };
  for (const [path, recording] of Object.entries(kept)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    const text = readFileSync(join(native, `${recording}.transcript.jsonl`), 'utf8');
    const hash = createHash('sha256').update('/workspace').digest('hex');
    writeFileSync(join(home, path), text.replace(/"projectHash":"\w+"/, `"projectHash":"${hash}"`));
  }
  const environment = { HOME: home, CODEX_HOME: join(home, 'codex') };
  const found = await sessionsIn('/workspace', environment);
  expect(found.toSorted()).toEqual(
    Object.keys(kept)
      .map((path) => join(home, path))
      .toSorted(),
  );
  expect(await readSessionTurns([found], { workTree: '/workspace', mask: createMask([]) })).not.toEqual([]);
  expect(await sessionsIn('/work', environment)).toEqual([]);
  expect(await sessionsIn('/workspace', { HOME: '/nowhere' })).toEqual([]);
  rmSync(home, { recursive: true });
});
