import type { Colors } from 'picocolors/types.js';
import type { TaskAudit } from '../record/audits.ts';
import { counted, rateWithInterval, UNKNOWN } from '../report/format.ts';
import { oneLine } from '../report/sanitize.ts';
import type { Share, SuiteSummary } from '../report/suite-audit.ts';
import { paragraphLines, tableLines } from '../report/text-layout.ts';
import { type FindingKind, findingKinds } from './finding.ts';
import type { Tally } from './integrity.ts';

export type AuditView = { colors: Colors; width: number };

/** An audit for a terminal. `reachable`: what an agent could do to the machine, as words after "could". */
export function auditLines(
  {
    audits,
    reachable,
    summary,
  }: { audits: readonly TaskAudit[]; reachable: readonly string[]; summary: SuiteSummary },
  { colors, width }: AuditView,
): string[] {
  return [
    ...table(audits, width).map((line, index) => (index === 0 ? colors.dim(line) : line)),
    ...audits.flatMap((audit) => findingLines(audit, { colors, width })),
    '',
    ...estimates(summary),
    ...(reachable.length > 0
      ? paragraphLines(`In this sandbox an agent could ${reachable.join('; ')}.`, width).map(colors.yellow)
      : []),
    '',
    conclusion(summary),
  ];
}

const HEAD = ['score', 'gold', 'nop', 'cheats', 'mutants', 'refactors', 'found', 'time', 'task'];

function table(audits: readonly TaskAudit[], width: number): string[] {
  const share = (tally: Tally | null) => (tally === null ? UNKNOWN : `${tally.passed}/${tally.runs}`);
  const rows = audits.map((audit) => [
    audit.integrity === null ? UNKNOWN : String(audit.integrity),
    share(audit.oracle),
    share(audit.nop),
    share(audit.cheats),
    share(audit.mutants),
    share(audit.refactors),
    String(audit.findings.length),
    `${audit.seconds} s`,
    oneLine(audit.task),
  ]);
  const widths = HEAD.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const columns = widths.map((one, at) =>
    at === HEAD.length - 1
      ? { width: Math.max(12, width - widths.slice(0, -1).reduce((sum, wide) => sum + wide + 2, 0)) }
      : { width: one, align: 'right' as const },
  );
  return tableLines(columns, [HEAD, ...rows]);
}

/** Changed solutions of one task that are listed. */
const SHOWN = 5;

function findingLines(
  { task, findings, mutants, refactors }: TaskAudit,
  { colors, width }: AuditView,
): string[] {
  if (findings.length === 0) return [];
  const lines = ['', colors.bold(oneLine(task))];
  for (const [kind, all] of Map.groupBy(findings, (one) => one.kind)) {
    lines.push(`  ${colors.red(titleOf(kind))}`);
    for (const [fix, same] of Map.groupBy(all, (one) => one.fix)) {
      for (const { subject, what } of same)
        lines.push(...paragraphLines(`${oneLine(subject)}: ${oneLine(what)}`, width, '    '));
      const changed =
        kind === 'false-pass' ? mutants?.survivors : kind === 'false-fail' ? refactors?.rejected : undefined;
      for (const { what } of changed?.slice(0, SHOWN) ?? [])
        lines.push(...paragraphLines(oneLine(what), width, '      '));
      lines.push(...paragraphLines(`How to close it: ${fix}`, width, '    ').map(colors.dim));
    }
  }
  return lines;
}

const titleOf = (kind: string): string =>
  Object.hasOwn(findingKinds, kind) ? findingKinds[kind as FindingKind].title : kind;

function estimates({ integrity, tasks, cheats, false_pass, false_fail }: SuiteSummary): string[] {
  const line = (name: string, share: Share, what: string) =>
    share.of === 0
      ? `${name}  nothing was played`
      : `${name}  ${rateWithInterval(share.rate, share.interval)}: ${share.count} of ${counted(share.of, what)}`;
  return [
    `Integrity   ${integrity === null ? UNKNOWN : integrity} of 100, mean of ${counted(tasks, 'task')}`,
    line('Exploits  ', cheats, 'cheat'),
    line('False pass', false_pass, 'mutant'),
    line('False fail', false_fail, 'refactor'),
  ];
}

function conclusion({ findings, tasks }: SuiteSummary): string {
  return findings === 0
    ? `${counted(tasks, 'task')}, nothing found`
    : `${counted(findings, 'finding')} in ${counted(tasks, 'task')}`;
}
