import type { Colors } from 'picocolors/types.js';
import type { CaseRow } from '../record/row.ts';
import { evidenceFiles } from './evidence-files.ts';
import { counted, dollars, rateWithInterval, seconds, tokens, UNKNOWN } from './format.ts';
import { oneLine } from './sanitize.ts';
import type { Arm, Comparison, FailureGroup, Summary } from './summary.ts';
import { type Column, paragraphLines, tableLines } from './text-layout.ts';

export type TerminalOptions = {
  /** picocolors' functions; `createColors(false)` for none. The caller knows whether it is a terminal and what `NO_COLOR` says. */
  colors: Colors;
  /** Columns; narrower than 40 is laid out as 40. */
  width: number;
};

const CASES_SHOWN = 5;

/** The report as it stands on a terminal: rates, comparisons, failures with their evidence, and what it does not show. No newline at the end. */
export function renderTerminal(
  summary: Summary,
  rows: readonly CaseRow[],
  { colors, width: wanted }: TerminalOptions,
): string {
  const width = Math.max(40, wanted);
  const rowById = new Map(rows.map((row) => [row.case_id, row]));
  return [
    ...heading(summary, colors, width),
    ...[...Map.groupBy(summary.arms, (arm) => arm.agent).values()].flatMap((arms) =>
      armTable(arms, colors, width),
    ),
    ...comparisons(summary, colors, width),
    ...summary.failures.flatMap((group) => failureGroup(group, rowById, colors, width)),
    ...caveats(summary, colors, width),
  ].join('\n');
}

function heading({ run_id, headline, cases }: Summary, colors: Colors, width: number): string[] {
  const counts = [
    colors.green(`${cases.passed} passed`),
    colors.red(`${cases.failed} failed`),
    colors.yellow(counted(cases.error, 'error')),
    `${cases.missing} not finished`,
  ];
  return [
    ...paragraphLines(`Run ${oneLine(run_id)}`, width).map(colors.bold),
    `${counted(cases.planned, 'case')}: ${counts.join(', ')}`,
    '',
    ...paragraphLines(oneLine(headline), width).map(colors.bold),
  ];
}

type ArmColumn = { head: string; width: number; cell: (arm: Arm) => string };

/** In the order of what may go when the terminal is narrow: the last first. */
const ARM_COLUMNS: ArmColumn[] = [
  { head: 'pass rate', width: 15, cell: (arm) => rateWithInterval(arm.pass_rate, arm.pass_rate_interval) },
  { head: 'passed', width: 7, cell: (arm) => `${arm.passed}/${arm.trials}` },
  { head: 'lost', width: 4, cell: (arm) => String(arm.error + arm.missing) },
  { head: 'agent', width: 8, cell: (arm) => seconds(arm.median_agent_seconds) },
  { head: 'cost', width: 8, cell: (arm) => dollars(arm.cost_usd, arm.cost_unknown) },
  { head: 'tokens', width: 7, cell: (arm) => tokens(arm.total_tokens, arm.tokens_unknown) },
  { head: 'files', width: 5, cell: (arm) => arm.mean_changed_files?.toFixed(1) ?? UNKNOWN },
];
const NARROWEST_NAME = 10;

function armTable(arms: readonly Arm[], colors: Colors, width: number): string[] {
  const indent = '  ';
  const longest = Math.max(...arms.map((arm) => arm.variant.length), 'variant'.length);
  const columns: ArmColumn[] = [];
  let left = width - indent.length - Math.min(longest, NARROWEST_NAME);
  for (const column of ARM_COLUMNS) {
    left -= column.width + 2;
    if (left < 0) break;
    columns.push(column);
  }
  const taken = columns.reduce((sum, column) => sum + column.width + 2, 0);
  const layout: Column[] = [
    { width: Math.min(longest, width - indent.length - taken) },
    ...columns.map((column): Column => ({ width: column.width, align: 'right' })),
  ];
  const head = tableLines(layout, [['variant', ...columns.map((column) => column.head)]], indent);
  const cells = arms.map((arm) => [oneLine(arm.variant), ...columns.map((column) => column.cell(arm))]);
  return [
    '',
    ...paragraphLines(oneLine(arms[0]?.agent ?? ''), width).map(colors.bold),
    ...head.map(colors.dim),
    ...tableLines(layout, cells, indent),
  ];
}

function comparisons({ comparisons: all, baseline }: Summary, colors: Colors, width: number): string[] {
  if (all.length === 0) return [];
  const colour: Record<Comparison['verdict'], (text: string) => string> = {
    better: colors.green,
    worse: colors.red,
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
  { class: name, count, cases }: FailureGroup,
  rowById: ReadonlyMap<string, CaseRow>,
  colors: Colors,
  width: number,
): string[] {
  const hidden = count - CASES_SHOWN;
  return [
    '',
    colors.bold(`Not passed: ${oneLine(name)} (${count})`),
    ...cases.slice(0, CASES_SHOWN).flatMap((one) => {
      const row = rowById.get(one.case_id);
      const file = row && evidenceFiles(row)[0];
      return [
        ...paragraphLines(
          oneLine(`${one.agent} · ${one.task} · ${one.variant} · trial ${one.trial}`),
          width,
          '  ',
        ),
        ...paragraphLines(oneLine(one.evidence, 300), width, '    ').map(colors.red),
        ...(file ? [colors.dim(`    ${oneLine(file.path)}`)] : []),
      ];
    }),
    ...(hidden > 0 ? [colors.dim(`  and ${hidden} more: see report.md`)] : []),
  ];
}

function caveats({ caveats: all }: Summary, colors: Colors, width: number): string[] {
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
