import { join } from 'node:path';
import { runLayout } from '../record/layout.ts';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { unmetAssertions } from './assertion-lines.ts';
import { auditLine, tasksOf } from './audit-line.ts';
import { evidenceFiles } from './evidence-files.ts';
import {
  boundsText,
  counted,
  dollars,
  metricValue,
  percentNumber,
  pNumber,
  points,
  pointsRange,
  rateWithInterval,
  seconds,
  tokens,
  UNKNOWN,
} from './format.ts';
import { markdownCode, markdownLink, markdownTable, markdownText } from './markdown-text.ts';
import { notRunText, planAccount } from './plan-account.ts';
import type { Arm, Cell, Comparison, FailureGroup, Metric, Summary } from './summary.ts';
import { isAmount } from './task-values.ts';

/** How many cases of one failure class are listed. */
const CASES_SHOWN = 50;
/** How many assertions of one case are listed. */
const ASSERTIONS_SHOWN = 10;

/**
 * `report.md`: GitHub-flavoured Markdown, its links relative to the run directory.
 * @param directory Of the run, for leaving out empty files. Default: none is left out.
 */
export function renderMarkdown(
  summary: Summary,
  manifest: Manifest,
  rows: readonly CaseRow[],
  directory?: string,
): string {
  const rowById = new Map(rows.map((row) => [row.case_id, row]));
  const sections = [
    introduction(summary),
    arms(summary),
    comparisons(summary),
    matrix('Task', summary.cells),
    matrix(
      'Category',
      summary.categories.map(({ category, ...cell }) => ({ ...cell, task: category ?? UNKNOWN })),
    ),
    failures(summary.failures, rowById, directory),
    notShown(summary.caveats),
    isolation(summary.isolation),
    provenance(manifest),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function introduction(summary: Summary): string[] {
  const { run_id, headline, cases } = summary;
  const account = planAccount(summary);
  const counts = [
    `${cases.passed} passed`,
    `${cases.failed} failed`,
    counted(cases.error, 'error'),
    `${cases.missing} not finished`,
    ...(cases.skipped > 0 ? [`${cases.skipped} skipped`] : []),
    ...(cases.not_run > 0 ? [notRunText(summary)] : []),
  ];
  return [
    `# Run ${markdownText(run_id)}`,
    '',
    `**${markdownText(headline)}**`,
    '',
    `${counted(cases.planned, 'case')}: ${counts.join(', ')}.`,
    ...(account ? ['', account] : []),
    ...(summary.audit ? ['', auditLine(summary.audit, tasksOf(summary))] : []),
  ];
}

type Columns<Row> = readonly (readonly [head: string, cell: (row: Row) => string])[];

/** A table with a column for the agent and one for the variant, both aligned left, before these columns. */
function table<Row extends { agent: string; variant: string }>(
  rows: readonly Row[],
  columns: Columns<Row>,
): string[] {
  const head = ['Agent', 'Variant', ...columns.map(([title]) => title)];
  const cells = rows.map((row) => [
    markdownText(row.agent),
    markdownText(row.variant),
    ...columns.map(([, cell]) => cell(row)),
  ]);
  return markdownTable(head, cells, 2);
}

const nameOf = ({ agent, variant }: { agent: string; variant: string }): string =>
  `${markdownText(agent)}, ${markdownText(variant)}`;

/** The primary metric comes first, with its bounds. */
const armColumns = ({ metric, arms }: Summary): Columns<Arm> => [
  [
    `${capitalized(metric.title)}${isAmount(metric.kind) ? '' : ' (95 %)'}`,
    (arm) => metricValue(metric, arm.primary),
  ],
  ...(isAmount(metric.kind) ? [] : [['Bounds', ({ primary }: Arm) => boundsText(primary)] as const]),
  ...(metric.kind === 'score' || isAmount(metric.kind) ? [['Pass rate (95 %)', passRate] as const] : []),
  ...(metric.kind !== 'score' && arms.some(({ score }) => score)
    ? [['Score (95 %)', meanScore] as const]
    : []),
  ['Passed', (arm) => `${arm.passed}/${arm.trials}`],
  ['Without result', (arm) => String(arm.error + arm.missing)],
  ...(arms.some((arm) => arm.not_run > 0) ? [['Not run', (arm: Arm) => String(arm.not_run)] as const] : []),
  ['Agent time', (arm) => seconds(arm.median_agent_seconds)],
  ['Files', (arm) => arm.mean_changed_files?.toFixed(1) ?? UNKNOWN],
  ['Tokens', (arm) => tokens(arm.total_tokens, arm.tokens_unknown)],
  ['Cost', (arm) => dollars(arm.cost_usd, arm.cost_unknown)],
  ['Cost per pass', (arm) => dollars(arm.cost_per_pass_usd)],
];

const passRate = (arm: Arm): string => rateWithInterval(arm.pass_rate, arm.pass_rate_interval);
const meanScore = ({ score }: Arm): string => rateWithInterval(score?.value ?? null, score?.interval ?? null);
const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** What the primary metric is. */
const MEANING: Record<Metric, string> = {
  pass_rate: 'The pass rate is the mean over tasks of the share of passed trials.',
  score: 'The score is the mean over tasks of the share of the points; the pass rate only describes.',
  pass_at_k:
    'A task counts when any of its trials passed: the others then do not run, so that there is no pass rate.',
  cost: 'The cost is the mean over tasks of US dollars per case with a result; the pass rate only describes.',
  tokens: 'Tokens are the mean over tasks per case with a result; the pass rate only describes.',
  seconds:
    'The time is the mean over tasks of the seconds of the agent per case with a result; the pass rate only describes.',
};

function arms(summary: Summary): string[] {
  const { arms: all, metric } = summary;
  return [
    `## ${capitalized(metric.title)}${metric.kind === 'pass_rate' ? 's' : ''}`,
    '',
    ...table(all, armColumns(summary)),
    '',
    `${MEANING[metric.kind]} ${isAmount(metric.kind) ? '' : 'Its interval takes tasks as clusters. Bounds: the lowest and the highest value over all planned cases that the cases without a result still allow. '}Time: median per case. Files: mean per case. Tokens and cost: totals of the cases.`,
    '',
    `Tokens and cost are ${usageSources(all)}`,
    ...severalTrials(all),
  ];
}

function severalTrials(all: readonly Arm[]): string[] {
  const lines = all.flatMap((arm) => {
    if (arm.pass_at_k === null) return [];
    const { k, any, any_interval, all: every, all_interval } = arm.pass_at_k;
    if (every === null) return [];
    return [
      `- ${nameOf(arm)}: pass@${k} ${rateWithInterval(any, any_interval)}, pass^${k} ${rateWithInterval(every, all_interval)}.`,
    ];
  });
  if (lines.length === 0) return [];
  const meaning =
    'pass@k: at least one of k trials of a task passes. pass^k: all of them pass. Means over tasks.';
  return ['', ...lines, '', meaning];
}

const SOURCES: Record<Arm['usage_source'], string> = {
  gateway: 'counted on the wire',
  agent: 'reported by the agent',
  mixed: 'from more than one source',
  none: 'unknown',
};

function usageSources(all: readonly Arm[]): string {
  const sources = [...Map.groupBy(all, (arm) => arm.usage_source)];
  const [only, ...others] = sources;
  if (only && others.length === 0) return `${SOURCES[only[0]]}.`;
  const named = sources.map(([source, from]) => `${SOURCES[source]} (${from.map(nameOf).join('; ')})`);
  return `${named.join(', ')}.`;
}

const ifKnown = <Value>(value: Value | null, format: (value: Value) => string): string =>
  value === null ? UNKNOWN : format(value);

const comparisonColumns = ({ metric: { unit } }: Summary): Columns<Comparison> => [
  ['Difference', (one) => ifKnown(one.difference, (difference) => `${points(difference)} ${unit}`)],
  ['Interval', (one) => ifKnown(one.interval, ({ low, high }) => pointsRange(low, high, unit))],
  ['p', (one) => ifKnown(one.p_value, pNumber)],
  ['p, corrected', (one) => ifKnown(one.adjusted_p_value, pNumber)],
  [
    'Detectable',
    (one) => ifKnown(one.minimum_detectable_difference, (smallest) => `${percentNumber(smallest)} ${unit}`),
  ],
  ['Tasks', (one) => String(one.tasks)],
  ['Verdict', (one) => `**${one.verdict}**`],
];

function comparisons(summary: Summary): string[] {
  const { comparisons: all, baseline } = summary;
  if (all.length === 0) return [];
  return [
    `## Against ${markdownText(baseline)}`,
    '',
    ...table(all, comparisonColumns(summary)),
    '',
    ...all.map((one) => `- ${nameOf(one)}: ${markdownText(one.sentence)}.`),
    '',
    "Paired by task, for tasks like these. A variant is better or worse only when the 95 % interval excludes 0 over at least four tasks, p < 0.05 after Holm's correction over all comparisons, and the cases without a result could not change that. It is equivalent only when the run declared which differences count as none, and the interval for that, which is wider where the tasks differ little, is within them over at least 20 tasks. Detectable: the smallest difference that this many tasks show with 80 % power.",
  ];
}

/** `what`: what the cells call their task. */
function matrix(what: 'Task' | 'Category', cells: readonly Cell[]): string[] {
  if (cells.length === 0) return [];
  const byArm = Map.groupBy(cells, ({ agent, variant }) => JSON.stringify([agent, variant]));
  const columns = [...byArm.values()].flatMap(([first]) => first ?? []);
  const rows = [...Map.groupBy(cells, (cell) => cell.task)].map(([task, ofTask]) => [
    markdownText(task),
    ...columns.map(({ agent, variant }) =>
      cellText(ofTask.find((cell) => cell.agent === agent && cell.variant === variant)),
    ),
  ]);
  const head = [
    what,
    ...columns.map(({ agent, variant }) => `${markdownText(agent)}<br>${markdownText(variant)}`),
  ];
  return [
    `## ${what === 'Task' ? 'Tasks' : 'Categories'}`,
    '',
    ...markdownTable(head, rows, 1),
    '',
    'Passed trials of those with a result; `+n`: n more have no result.',
  ];
}

function cellText(cell: Cell | undefined): string {
  if (cell === undefined) return UNKNOWN;
  const without = cell.error + cell.missing;
  return `${cell.passed}/${cell.passed + cell.failed}${without > 0 ? ` +${without}` : ''}`;
}

function failures(
  groups: readonly FailureGroup[],
  rowById: ReadonlyMap<string, CaseRow>,
  directory: string | undefined,
): string[] {
  if (groups.length === 0) return [];
  return [
    '## Failures',
    ...groups.flatMap(({ title, count, cases }) => [
      '',
      `### ${markdownText(title)} (${count})`,
      '',
      ...cases.slice(0, CASES_SHOWN).flatMap((one) => failedCase(one, rowById.get(one.case_id), directory)),
      ...(count > CASES_SHOWN ? [`- and ${count - CASES_SHOWN} more, in results.jsonl`] : []),
    ]),
  ];
}

function failedCase(
  one: FailureGroup['cases'][number],
  row: CaseRow | undefined,
  directory: string | undefined,
): string[] {
  const names = [one.agent, one.task, one.variant].map(markdownText).join(', ');
  const folder = runLayout('').case(one.case_id);
  const files = row ? evidenceFiles(row, directory && join(directory, folder)) : [];
  const links = files.map(({ label, path }) => markdownLink(label, join(folder, path)));
  // Two spaces at the end of the line: a line break.
  const assertions = row ? unmetAssertions(row) : [];
  const shown = assertions.slice(0, ASSERTIONS_SHOWN).map((line) => `  - ${markdownText(line)}`);
  const hidden = assertions.length - shown.length;
  return [
    `- **${names}, trial ${one.trial}**: ${markdownCode(one.evidence)}  `,
    `  ${links.join(' · ')}`,
    ...shown,
    ...(hidden > 0 ? [`  - and ${counted(hidden, 'assertion')} more, in assertions.json`] : []),
  ];
}

function notShown(caveats: readonly string[]): string[] {
  return ['## What this does not show', '', ...caveats.map((caveat) => `- ${markdownText(caveat)}`)];
}

function isolation({
  provider,
  level,
  processes,
  network,
  workspace,
  hosts,
  setup_hosts: setupHosts,
  probes,
  auto,
  limits,
  reachable = [],
}: Summary['isolation']): string[] {
  const facts = [
    ['Provider', `${provider}, level ${level}${auto ? ', chosen by `auto`' : ''}`],
    ...(auto?.reasons ?? []).map((reason) => ['Not sealed', reason]),
    ['Processes', processes],
    ['Network', network],
    ...(hosts ? [['Hosts that commands could reach', hosts.join(', ')]] : []),
    ...(setupHosts ? [['Hosts that setup could reach beside these', setupHosts.join(', ') || 'none']] : []),
    ['Workspace', workspace],
    ...(limits ? [['Limits of a case', limitsText(limits)]] : []),
    ...(probes
      ? [['Tried from inside before the first case, in vain', probes.map(({ attack }) => attack).join(', ')]]
      : []),
  ];
  const could = reachable.map((attack) => `- An agent could ${attack}.`);
  return [
    '## Isolation',
    '',
    ...facts.map(([name, value]) => `- ${name}: ${markdownText(value ?? '')}`),
    ...could,
  ];
}

function limitsText(limits: NonNullable<Summary['isolation']['limits']>): string {
  const { memory_bytes: memory, processes, cpus, disk_bytes: disk = null } = limits;
  return [
    memory === null ? 'memory not limited' : `${(memory / 1e9).toFixed(1)} GB of memory`,
    processes === null ? 'processes not limited' : `${processes} processes`,
    cpus === null ? 'CPU time not limited' : `${cpus} CPUs`,
    disk === null ? 'disk not limited' : `${(disk / 1e9).toFixed(1)} GB of disk`,
  ].join(', ');
}

function describeGateway({ mode, script, cassettes, faults }: NonNullable<Manifest['gateway']>): string {
  const source = script ?? cassettes;
  const injected = faults ? `, with injected faults: ${faults.join('; ')}` : '';
  return `gateway, ${mode}${source === undefined || source === null ? '' : ` ${source}`}${injected}`;
}

function provenance(manifest: Manifest): string[] {
  const { machine, repo, gateway } = manifest;
  const facts = [
    [
      'Repository',
      `${repo.path} at ${repo.base_ref}${repo.dirty ? ', with uncommitted changes left out' : ''}`,
    ],
    [
      'Config',
      `${manifest.config_path}${manifest.config_hash === null ? '' : `, sha256 ${manifest.config_hash}`}`,
    ],
    ['Seed', manifest.seed],
    ['Trials', `${manifest.trials}, ${manifest.jobs} at a time`],
    ['Model calls', gateway ? describeGateway(gateway) : 'not through the gateway'],
    [
      'Machine',
      machine
        ? `${machine.platform} ${machine.release} ${machine.arch}, ${machine.cpus} CPUs, ${(machine.memory_bytes / 2 ** 30).toFixed(1)} GiB`
        : UNKNOWN,
    ],
    [
      'Versions',
      `whetstone ${manifest.whetstone_version}${machine ? `, Node ${machine.node}${machine.git === null ? '' : `, Git ${machine.git}`}` : ''}`,
    ],
    ['Created', manifest.created_at],
  ];
  const parts = [
    ...manifest.agents.map((one) => [
      'agent',
      one.name,
      `${one.kind} ${one.version ?? '(version unknown)'}`,
      one.fingerprint,
    ]),
    ...manifest.tasks.map((one) => ['task', one.id, `commit ${one.commit}`, one.fingerprint]),
    ...manifest.variants.map((one) => ['variant', one.name, one.description, one.fingerprint]),
  ];
  return [
    '## Provenance',
    '',
    ...facts.map(([name, value]) => `- ${name}: ${markdownText(value ?? '')}`),
    '',
    ...markdownTable(
      ['Part', 'Name', 'What', 'Fingerprint'],
      parts.map((cells) => cells.map(markdownText)),
      4,
    ),
  ];
}
