import { join } from 'node:path';
import type { Colors } from 'picocolors/types.js';
import { runLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { auditLine, tasksOf } from './audit-line.ts';
import { evidenceFiles } from './evidence-files.ts';
import { boundsText, counted, dollars, metricValue, seconds, tokens, UNKNOWN } from './format.ts';
import { notRunText, planAccount } from './plan-account.ts';
import { oneLine } from './sanitize.ts';
import type { Arm, Comparison, FailureGroup, Summary } from './summary.ts';
import { type Column, paragraphLines, tableLines } from './text-layout.ts';

export type TerminalOptions = {
  /** The functions of picocolors; `createColors(false)` for no colours. */
  colors: Colors;
  /** In characters; below 40 counts as 40. */
  width: number;
  /** Of the run, for leaving out empty files. Default: none is left out. */
  directory?: string;
};

const CASES_SHOWN = 5;

/** The report for a terminal, without a newline at the end. */
export function renderTerminal(summary: Summary, rows: readonly CaseRow[], options: TerminalOptions): string {
  const view = { ...options, width: Math.max(40, options.width) };
  const rowById = new Map(rows.map((row) => [row.case_id, row]));
  const armsByAgent = [...Map.groupBy(summary.arms, (arm) => arm.agent).values()];
  return [
    ...heading(summary, view),
    ...armsByAgent.flatMap((arms) => armTable(arms, armColumns(summary), view)),
    ...comparisons(summary, view),
    ...summary.failures.flatMap((group) => failureGroup(group, rowById, view)),
    ...caveats(summary, view),
  ].join('\n');
}

function heading(summary: Summary, { colors, width }: TerminalOptions): string[] {
  const account = planAccount(summary);
  const { run_id, headline, cases } = summary;
  const { planned, passed, failed, error, skipped, missing, not_run: notRun, reused } = cases;
  const old = reused === undefined ? '' : ` (${reused} reused)`;
  const counts = `${counted(planned, 'case')}: ${passed} passed, ${failed} failed, ${counted(error, 'error')}, ${missing} not finished${skipped > 0 ? `, ${skipped} skipped` : ''}${notRun > 0 ? `, ${notRunText(summary)}` : ''}${old}`;
  return [
    ...paragraphLines(`Run ${oneLine(run_id)}`, width).map(colors.bold),
    ...paragraphLines(counts, width).map((line) =>
      line
        .replace(/\d+ passed/, colors.green)
        .replace(/\d+ failed/, colors.red)
        .replace(/\d+ errors?/, colors.yellow),
    ),
    '',
    ...paragraphLines(oneLine(headline), width).map(colors.bold),
    ...(account === null ? [] : paragraphLines(account, width).map(colors.dim)),
    ...(summary.audit
      ? paragraphLines(auditLine(summary.audit, tasksOf(summary)), width).map(colors.dim)
      : []),
  ];
}

/** The columns of numbers. On a narrow terminal the last ones are left out first. */
const armColumns = ({ metric, arms }: Summary): { head: string; cell: (arm: Arm) => string }[] => [
  { head: metric.title, cell: ({ primary }) => metricValue(metric, primary) },
  { head: 'passed', cell: (arm) => `${arm.passed}/${arm.trials}` },
  { head: 'missing', cell: (arm) => String(arm.error + arm.missing) },
  ...(arms.some(({ primary }) => boundsText(primary) !== UNKNOWN)
    ? [{ head: 'bounds', cell: ({ primary }: Arm) => boundsText(primary) }]
    : []),
  { head: 'time', cell: (arm) => seconds(arm.median_agent_seconds) },
  { head: 'cost', cell: (arm) => dollars(arm.cost_usd, arm.cost_unknown) },
  { head: 'tokens', cell: (arm) => tokens(arm.total_tokens, arm.tokens_unknown) },
  { head: 'files', cell: (arm) => arm.mean_changed_files?.toFixed(1) ?? UNKNOWN },
];
/** The least width of the names, in characters. Columns of numbers are left out until a name has it. */
const NARROWEST_NAME = 12;

function armTable(
  arms: readonly Arm[],
  shown: ReturnType<typeof armColumns>,
  { colors, width }: TerminalOptions,
): string[] {
  const indent = '  ';
  const rows = arms.map((arm) => shown.map((column) => column.cell(arm)));
  const numbers = shown.map(({ head }, i): Column => {
    return { width: Math.max(head.length, ...rows.map((cells) => cells[i]?.length ?? 0)), align: 'right' };
  });
  const longest = Math.max(...arms.map((arm) => oneLine(arm.variant).length), 'variant'.length);
  const room = (columns: readonly Column[]) =>
    columns.reduce((left, column) => left - column.width - 2, width - indent.length);
  while (room(numbers) < Math.min(longest, NARROWEST_NAME)) numbers.pop();
  const columns = [{ width: Math.min(longest, room(numbers)) }, ...numbers];
  const lines = arms.map((arm, i) => [oneLine(arm.variant), ...(rows[i] ?? [])]);
  const head = ['variant', ...shown.map((column) => column.head)];
  return [
    '',
    ...paragraphLines(oneLine(arms[0]?.agent ?? ''), width).map(colors.bold),
    ...tableLines(columns, [head], indent).map(colors.dim),
    ...tableLines(columns, lines, indent),
  ];
}

function comparisons({ comparisons: all, baseline }: Summary, { colors, width }: TerminalOptions): string[] {
  if (all.length === 0) return [];
  const colour: Record<Comparison['verdict'], (text: string) => string> = {
    better: colors.green,
    worse: colors.red,
    equivalent: colors.green,
    inconclusive: colors.yellow,
  };
  return [
    '',
    ...paragraphLines(`Against ${oneLine(baseline)}`, width).map(colors.bold),
    ...all.flatMap((one) => [
      ...paragraphLines(oneLine(`${one.variant} (${one.agent})`), width, '  '),
      ...paragraphLines(oneLine(one.sentence), width, '    ').map((line, i) =>
        i === 0 ? line.replace(one.verdict, colour[one.verdict]) : line,
      ),
    ]),
  ];
}

function failureGroup(
  { title, count, cases }: FailureGroup,
  rowById: ReadonlyMap<string, CaseRow>,
  { colors, width, directory }: TerminalOptions,
): string[] {
  const hidden = count - CASES_SHOWN;
  return [
    '',
    colors.bold(`${oneLine(title)} (${count})`),
    ...cases.slice(0, CASES_SHOWN).flatMap((one) => {
      const row = rowById.get(one.case_id);
      const folder = runLayout('').case(one.case_id);
      const file = row && evidenceFiles(row, directory && join(directory, folder))[0];
      const title = oneLine(`${one.agent} · ${one.task} · ${one.variant} · trial ${one.trial}`);
      return [
        ...paragraphLines(title, width, '  '),
        ...paragraphLines(oneLine(one.evidence, 300), width, '    ').map(colors.red),
        ...(file ? [colors.dim(`    ${oneLine(join(folder, file.path))}`)] : []),
      ];
    }),
    ...(hidden > 0 ? [colors.dim(`  and ${hidden} more: see report.md`)] : []),
  ];
}

function caveats({ caveats: all }: Summary, { colors, width }: TerminalOptions): string[] {
  return [
    '',
    colors.bold('What this does not show'),
    ...all.flatMap((caveat) =>
      paragraphLines(oneLine(caveat), width, '    ').map((line, i) =>
        i === 0 ? `  - ${line.trimStart()}` : line,
      ),
    ),
  ];
}
