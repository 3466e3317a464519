import type { Ratio } from '../stats/log-ratio.ts';
import { counted, dollars, metricValue, points, pValue, seconds, tokens, UNKNOWN } from './format.ts';
import { extentOf, intervalLine } from './interval-line.ts';
import type { ValueOfPass } from './pass-worth.ts';
import type { PairComparison, RunComparison } from './run-comparison.ts';
import { oneLine } from './sanitize.ts';
import type { Arm, RatePair } from './summary.ts';
import type { TerminalOptions } from './terminal.ts';
import { paragraphLines, tableLines } from './text-layout.ts';

const FLIPS_SHOWN = 20;

/** A comparison of two sides for a terminal, without a newline at the end. */
export function renderComparison(comparison: RunComparison, options: TerminalOptions): string {
  const view = { ...options, width: Math.max(40, options.width) };
  const { a, b, pairs } = comparison;
  return [
    ...[`A: ${a.label} · run ${a.run_id}`, `B: ${b.label} · run ${b.run_id}`].flatMap((line) =>
      paragraphLines(oneLine(line), view.width).map(view.colors.bold),
    ),
    // Both sides have the same audits, unless they come from different folders of runs.
    ...[...new Set([a.audit, b.audit])].flatMap((audit) =>
      audit === undefined ? [] : paragraphLines(audit, view.width).map(view.colors.dim),
    ),
    ...pairs.flatMap((pair) => pairLines(pair, comparison, view)),
    ...exploratoryLines(comparison, view),
    ...section(
      'Over all agents',
      comparison.pooled.map((one) => `${one.variant} against ${one.baseline}: ${one.sentence}`),
      view,
    ),
    ...section('Not compared', notCompared(comparison), view),
    ...section(
      'What else differs',
      comparison.differences.map(({ what, a, b }) => `${what}: ${a ?? UNKNOWN} → ${b ?? UNKNOWN}`),
      view,
    ),
    ...section('What the agents saw', comparison.exposure, view),
    ...section('What this does not show', comparison.caveats, view),
    ...gateLines(comparison, view),
  ].join('\n');
}

/** What was dropped later, by somebody who may have seen the results. */
function exploratoryLines(
  { left_out: reasons }: RunComparison,
  { colors, width }: TerminalOptions,
): string[] {
  if (reasons.length === 0) return [];
  const text = `Exploratory: ${reasons.join(' ')} A verdict that was planned compares all of them; run this comparison on its own to confirm it.`;
  return ['', ...paragraphLines(text, width).map(colors.yellow)];
}

function pairLines(pair: PairComparison, run: RunComparison, view: TerminalOptions): string[] {
  const { colors, width } = view;
  const { a, b, comparison, flips } = pair;
  const paint = {
    better: colors.green,
    worse: colors.red,
    equivalent: colors.green,
    inconclusive: colors.yellow,
  }[comparison.verdict];
  return [
    '',
    ...paragraphLines(oneLine(titleOf(a, b)), width).map(colors.bold),
    ...paragraphLines(oneLine(comparison.sentence), width, '  ').map((line, i) =>
      i === 0 ? line.replace(comparison.verdict, paint) : line,
    ),
    ...drawing(pair, run, view),
    '',
    ...sideBySide(pair, run.metric, width),
    ...valueLines(pair, width),
    ...(flips.length > 0
      ? ['', `  ${counted(flips.length, 'task')} changed`, ...flipLines(pair, width)]
      : []),
  ];
}

const titleOf = (a: Arm, b: Arm): string => `${b.variant} (${b.agent}) against ${a.variant} (${a.agent})`;

/** The interval for tasks like these, on one scale for all pairs, and the exact test on these tasks. */
function drawing(
  { comparison }: PairComparison,
  { pairs, metric: { unit } }: RunComparison,
  { width }: TerminalOptions,
): string[] {
  const drawn = pairs.flatMap(({ comparison: { interval, difference } }) =>
    interval && difference !== null ? [{ difference, ...interval }] : [],
  );
  const { interval, difference, these_tasks_p_value: p } = comparison;
  const extent = extentOf(drawn);
  const columns = Math.min(61, width - 20);
  return [
    ...(interval && difference !== null
      ? [
          '',
          `  ${points(-extent).padStart(5)} ${intervalLine({ difference, ...interval }, extent, columns).padEnd(columns | 1)} ${points(extent)} ${unit}`,
        ]
      : []),
    ...(p === null ? [] : [`  On these tasks only: ${pValue(p)} (exact permutation within tasks).`]),
  ];
}

function sideBySide(
  { a, b, ratios, failures, comparison }: PairComparison,
  metric: RunComparison['metric'],
  width: number,
): string[] {
  const rows = [
    ['', 'A', 'B', 'B / A'],
    [metric.title, metricValue(metric, a.primary), metricValue(metric, b.primary), ''],
    ['passed', `${a.passed}/${a.trials}`, `${b.passed}/${b.trials}`, ''],
    ['no result', String(a.error + a.missing), String(b.error + b.missing), ''],
    ...countRow('errors', comparison.missing_data?.errors),
    ['retries', String(a.retries), String(b.retries), ''],
    ...countRow('cases retried', comparison.missing_data?.retried),
    [
      'cost',
      dollars(a.cost_usd, a.cost_unknown),
      dollars(b.cost_usd, b.cost_unknown),
      ratioText(ratios.cost),
    ],
    [
      'tokens',
      tokens(a.total_tokens, a.tokens_unknown),
      tokens(b.total_tokens, b.tokens_unknown),
      ratioText(ratios.tokens),
    ],
    [
      'time, median',
      seconds(a.median_agent_seconds),
      seconds(b.median_agent_seconds),
      ratioText(ratios.seconds),
    ],
    ...failures.map((one) => [one.title, String(one.a), String(one.b), '']),
  ];
  const widths = [0, 1, 2, 3].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const room = Math.max(10, width - 2 - (widths[1] ?? 0) - (widths[2] ?? 0) - (widths[3] ?? 0) - 6);
  const columns = widths.map((one, i) =>
    i === 0 ? { width: Math.min(one, room) } : { width: one, align: 'right' as const },
  );
  return tableLines(columns, rows, '  ');
}

/** `3/20`, `0/20`, `p = 0.042`; nothing where neither arm has any. */
function countRow(title: string, pair: RatePair | undefined): string[][] {
  if (!pair || pair.p_value === null) return [];
  const { variant, baseline, p_value: p } = pair;
  return [[title, `${baseline.count}/${baseline.cases}`, `${variant.count}/${variant.cases}`, pValue(p)]];
}

/** `0.82 × [0.70, 0.97]`. */
function ratioText(ratio: Ratio | null): string {
  if (ratio === null) return UNKNOWN;
  const number = (value: number) => value.toPrecision(2);
  const range = ratio.interval ? ` [${number(ratio.interval.low)}, ${number(ratio.interval.high)}]` : '';
  return `${number(ratio.ratio)} ×${range}`;
}

function valueLines({ value }: PairComparison, width: number): string[] {
  if (!value) return [];
  const [asked, ...others] = value.values;
  if (!asked) return [];
  const text = (one: ValueOfPass) => {
    const range = one.interval ? ` [${money(one.interval.low)}, ${money(one.interval.high)}]` : '';
    return `${money(one.value_usd)}${range}`;
  };
  const range = others.map((one) => `${text(one)} at ${money(one.pass_worth_usd)}`).join('; ');
  const said = `If a pass is worth ${money(asked.pass_worth_usd)}, B is worth ${text(asked)} more than A per case, over ${counted(value.tasks, 'task')} (exploratory). ${range}.`;
  return ['', ...paragraphLines(said, width, '  ')];
}

/** `−$0.012`, `$3.40`. */
const money = (usd: number): string => `${usd < 0 ? '−' : ''}$${Number(Math.abs(usd).toPrecision(3))}`;

function flipLines({ flips }: PairComparison, width: number): string[] {
  const shown = flips.slice(0, FLIPS_SHOWN);
  const share = ({ passed, trials }: { passed: number; trials: number }) => `${passed}/${trials}`;
  const rows = shown.map(({ task, a, b }) => [
    b.passed / b.trials > a.passed / a.trials ? '+' : '−',
    oneLine(task),
    `${share(a)} → ${share(b)}`,
  ]);
  const last = Math.max(...rows.map((row) => row[2]?.length ?? 0));
  const longest = Math.max(...rows.map((row) => row[1]?.length ?? 0));
  const columns = [
    { width: 1 },
    { width: Math.max(10, Math.min(longest, width - 9 - last)) },
    { width: last },
  ];
  const hidden = flips.length - shown.length;
  return [
    ...tableLines(columns, rows, '    '),
    ...(hidden > 0 ? [`    and ${hidden} more: see --json`] : []),
  ];
}

function notCompared({ unpaired_arms: arms, excluded_tasks: tasks }: RunComparison): string[] {
  return [
    ...arms.map(({ side, agent, variant }) => `${variant} (${agent}): only in ${side.toUpperCase()}`),
    ...[...Map.groupBy(tasks, ({ why }) => why)].map(([why, ofWhy]) => {
      const named = ofWhy
        .slice(0, 5)
        .map(({ task }) => task)
        .join(', ');
      const more = ofWhy.length > 5 ? ` and ${ofWhy.length - 5} more` : '';
      return `${counted(ofWhy.length, 'task')} ${why === 'changed' ? 'with the same id and another content' : why}: ${named}${more}`;
    }),
  ];
}

function section(title: string, lines: readonly string[], { colors, width }: TerminalOptions): string[] {
  if (lines.length === 0) return [];
  return [
    '',
    colors.bold(title),
    ...lines.flatMap((line) =>
      paragraphLines(oneLine(line), width, '    ').map((text, i) =>
        i === 0 ? `  - ${text.trimStart()}` : text,
      ),
    ),
  ];
}

function gateLines({ gate }: RunComparison, { colors, width }: TerminalOptions): string[] {
  if (gate === null) return [];
  const paint = { passed: colors.green, failed: colors.red, inconclusive: colors.yellow }[gate.status];
  return [
    '',
    ...paragraphLines(oneLine(gate.sentence), width).map((line) => line.replace(gate.status, paint)),
  ];
}
