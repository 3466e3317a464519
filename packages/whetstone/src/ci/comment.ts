import { counted, dollars, percentNumber, points, pointsRange, tokens, UNKNOWN } from '../report/format.ts';
import { markdownTable } from '../report/markdown-text.ts';
import type { Summary } from '../report/summary.ts';
import { inertCode, inertText } from './inert-text.ts';
import type { JobRun, Measured } from './measured.ts';
import type { Platform } from './platform.ts';

/** What a comment says of one run. */
export type Part = { job: JobRun; summary: Summary; measured: readonly Measured[] };

/** Flips of one comparison that are listed. */
const FLIPS_SHOWN = 20;
/** Caveats that are listed. */
const CAVEATS_SHOWN = 12;
/** GitHub takes 65,536 characters. */
const LONGEST = 60_000;

/** The hidden first line by which a later job finds its comment again. `name`: of the configuration, for several in one repository. */
export const markerOf = (name: string): string => `<!-- whetstone ${name.replace(/[^\w./-]/g, '_')} -->`;

/** The comment of a pull request, in Markdown that GitHub and GitLab read alike. */
export function renderComment(
  parts: readonly Part[],
  notRun: string | null,
  links: Platform['links'],
): string {
  const blocks = [
    ...(notRun === null ? [] : [`### Whetstone: not measured\n\n${inertText(notRun)}`]),
    ...parts.map(renderPart),
    footer(links),
  ].filter((block) => block !== '');
  const text = blocks.join('\n\n');
  if (text.length <= LONGEST) return text;
  // Without lists: what stays has a bounded length.
  return [
    ...parts.map((part) => renderPart({ ...part, measured: part.measured.slice(0, 20).map(withoutFlips) })),
    footer(links),
  ]
    .join('\n\n')
    .slice(0, LONGEST);
}

const withoutFlips = (one: Measured): Measured => ({ ...one, flips: [] });

function renderPart({ job, summary, measured }: Part): string {
  const { cases, headline } = summary;
  const verdicts = [...new Set(measured.map(({ comparison }) => comparison.verdict))];
  const title =
    verdicts.length === 1 ? verdicts[0] : verdicts.length === 0 ? 'nothing compared' : 'several verdicts';
  return [
    `### Whetstone: ${title}`,
    '',
    `${subjectOf(job)}`,
    '',
    ...(job.kind === 'agents'
      ? measured.map(({ agent, comparison }) => `- ${inertCode(agent)}: ${inertText(comparison.sentence)}.`)
      : [inertText(headline)]),
    '',
    ...table(summary, measured),
    '',
    `${counted(cases.planned, 'case')}: ${cases.passed} passed, ${cases.failed} failed, ${cases.error + cases.missing} without a result. Cost: ${costOf(summary)}.`,
    ...measured.flatMap(flipsOf),
    ...caveatsOf(summary),
  ].join('\n');
}

function subjectOf({ kind, what }: JobRun): string {
  const names =
    what.slice(0, 10).map(inertCode).join(', ') + (what.length > 10 ? ` and ${what.length - 10} more` : '');
  if (kind === 'context') return `What agents read, before and after this change: ${names}.`;
  if (kind === 'agents') return `Agents, before and after this change: ${names}.`;
  return 'The variants of the configuration against its baseline.';
}

function table({ metric, arms }: Summary, measured: readonly Measured[]): string[] {
  if (measured.length === 0) return [];
  const { unit } = metric;
  const ifKnown = <Value>(value: Value | null, show: (value: Value) => string) =>
    value === null ? UNKNOWN : show(value);
  const rows = measured.map(({ agent, before, after, comparison }) => {
    const arm = arms.find((one) => one.agent === agent && (one.variant === after || agent === after));
    return [
      inertCode(agent),
      `${inertCode(before)} → ${inertCode(after)}`,
      `**${comparison.verdict}**`,
      ifKnown(comparison.difference, (difference) => `${points(difference)} ${unit}`),
      ifKnown(comparison.interval, ({ low, high }) => pointsRange(low, high, unit)),
      ifKnown(comparison.minimum_detectable_difference, (smallest) => `${percentNumber(smallest)} ${unit}`),
      String(comparison.tasks),
      arm ? dollars(arm.cost_usd, arm.cost_unknown) : UNKNOWN,
    ];
  });
  const head = [
    'Agent',
    'Arms',
    'Verdict',
    'Difference',
    '95 % interval',
    'Smallest detectable',
    'Tasks',
    'Cost',
  ];
  return markdownTable(head, rows, 3);
}

/** A sum with an unknown part says so. */
function costOf({ arms }: Summary): string {
  const sum = (read: (arm: Summary['arms'][number]) => number | null): number | null => {
    const known = arms.flatMap((arm) => read(arm) ?? []);
    return known.length === 0 ? null : known.reduce((total, one) => total + one, 0);
  };
  const unknown = (read: (arm: Summary['arms'][number]) => number) =>
    arms.reduce((total, arm) => total + read(arm), 0);
  const cost = dollars(
    sum(({ cost_usd }) => cost_usd),
    unknown(({ cost_unknown }) => cost_unknown),
  );
  const used = tokens(
    sum(({ total_tokens }) => total_tokens),
    unknown(({ tokens_unknown }) => tokens_unknown),
  );
  return `${cost === UNKNOWN ? 'unknown' : cost}, tokens: ${used === UNKNOWN ? 'unknown' : used}`;
}

function flipsOf({ before, after, agent, flips }: Measured): string[] {
  if (flips.length === 0) return [];
  const rows = flips
    .slice(0, FLIPS_SHOWN)
    .map(({ task, a, b }) => [inertCode(task), `${a.passed}/${a.trials}`, `${b.passed}/${b.trials}`]);
  const more = flips.length - rows.length;
  return [
    '',
    `<details><summary>${counted(flips.length, 'task')} with another pass rate (${inertCode(agent)})</summary>`,
    '',
    ...markdownTable(['Task', inertCode(before), inertCode(after)], rows, 1),
    ...(more > 0 ? ['', `and ${more} more, in the report.`] : []),
    '',
    '</details>',
  ];
}

function caveatsOf({ caveats }: Summary): string[] {
  if (caveats.length === 0) return [];
  return [
    '',
    '<details><summary>What this does not show</summary>',
    '',
    ...caveats.slice(0, CAVEATS_SHOWN).map((caveat) => `- ${inertText(caveat)}`),
    '',
    '</details>',
  ];
}

function footer({ job, files }: Platform['links']): string {
  const links = [
    ...(job ? [`[Job](${encodeURI(job)})`] : []),
    ...(files ? [`[run directory, for \`whetstone view\`](${encodeURI(files)})`] : []),
  ];
  return links.join(' · ');
}
