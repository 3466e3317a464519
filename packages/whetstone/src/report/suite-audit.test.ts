import { expect, test } from 'vitest';
import type { StoredAudit } from '../record/audits.ts';
import { auditLine } from './audit-line.ts';
import { auditOfRun, summarizeAudits } from './suite-audit.ts';

const auditOf = (task: string, more: Partial<StoredAudit> = {}): StoredAudit => ({
  schema_version: '1',
  ...{ task, fingerprint: `print of ${task}`, commit: 'c', sandbox: 'process', audited_at: '2026-01-01' },
  ...{ oracle: { passed: 1, runs: 1 }, nop: { passed: 0, runs: 1 }, cheats: null },
  mutants: { passed: 1, runs: 10, text: 0, survivors: [] },
  refactors: { passed: 5, runs: 5, rejected: [] },
  ...{ integrity: 90, findings: [], seconds: 1 },
  ...more,
});
const run = {
  tasks: ['a', 'b', 'c'].map((id) => ({
    ...{ id, title: null, commit: 'c', fingerprint: `print of ${id}`, submodules: [], lfs_pointers: [] },
  })),
};

test('a run has the newest audits of its tasks as they were, and says how many were audited', () => {
  const older = auditOf('a', { integrity: 0, audited_at: '2025-01-01' });
  const other = auditOf('b', { commit: 'another commit', integrity: 0 });
  const audit = auditOfRun(run, [older, auditOf('a'), other, auditOf('c', { integrity: 100 })]);
  expect(audit).toMatchObject({ tasks: 2, integrity: 95 });
  expect(audit && auditLine(audit, 3)).toBe(
    'Audit of the tasks: integrity 95 of 100, false passes 10 % [3, 30] (2 of 20 mutants), false fails 0 % [0, 28] (0 of 10 refactors), 0 findings, 2 of 3 tasks audited.',
  );
});

test('what was not played is unknown, and no audit says nothing', () => {
  expect(auditOfRun(run, [])).toBeUndefined();
  const audit = summarizeAudits([auditOf('a', { mutants: null, refactors: null, integrity: null })]);
  expect(audit).toMatchObject({ integrity: null, false_pass: { rate: null, interval: null } });
  expect(auditLine(audit, 1)).toContain('integrity – of 100, false passes unknown, false fails unknown');
});
