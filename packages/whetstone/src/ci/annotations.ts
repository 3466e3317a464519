import { failureClasses } from '../record/row.ts';
import { oneLine } from '../report/sanitize.ts';
import type { Part } from './comment.ts';

/** GitHub shows ten annotations of a kind per step. */
const MOST = 10;
const LEVELS = { worse: 'error', better: 'notice', equivalent: 'notice', inconclusive: 'notice' } as const;

/**
 * Lines for the log of a job on GitHub, which become annotations: one per comparison, at the file that changed, and one per
 * class of failure that is missing data.
 */
export function annotations(parts: readonly Part[]): string[] {
  return parts.flatMap(({ job, summary, measured }) => [
    ...measured.slice(0, MOST).map(({ agent, after, comparison }) =>
      command(LEVELS[comparison.verdict], `${agent}: ${after}: ${comparison.sentence}.`, {
        ...(job.kind === 'context' && job.what[0] !== undefined && { file: job.what[0] }),
        title: `Whetstone: ${comparison.verdict}`,
      }),
    ),
    ...summary.failures
      .filter((group) => isMissing(group.class))
      .slice(0, MOST)
      .map(({ title, count, cases }) =>
        command('warning', `${title}: ${count}. ${cases[0]?.evidence ?? ''}`, {
          title: 'Whetstone: without a result',
        }),
      ),
  ]);
}

const isMissing = (name: string): boolean => failureClasses.error.some((one) => one === name);

/** A workflow command. Its values have no line breaks, so that no text becomes another command. */
export function command(name: string, message: string, properties: Record<string, string> = {}): string {
  const given = Object.entries(properties).map(
    ([key, value]) => `${key}=${escaped(value).replaceAll(':', '%3A').replaceAll(',', '%2C')}`,
  );
  return `::${name}${given.length > 0 ? ` ${given.join(',')}` : ''}::${escaped(message)}`;
}

const escaped = (text: string): string => oneLine(text).replaceAll('%', '%25');
