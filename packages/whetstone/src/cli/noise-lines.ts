import { counted } from '../report/format.ts';
import { oneLine } from '../report/sanitize.ts';
import type { Summary } from '../report/summary.ts';

/** How far verifications of the same tree disagree, per task; empty where no tree was verified twice. */
export function noiseLines({ verifier: noise }: Pick<Summary, 'verifier'>): string[] {
  if (!noise) return [];
  return [
    `Verifications disagreed in ${noise.disagreed} of ${counted(noise.trees, 'tree')}`,
    ...noise.tasks.map(
      (one) =>
        `  ${(100 * one.disagreement).toFixed(0)} %  ${oneLine(one.task)}: ${one.disagreed} of ${counted(one.trees, 'tree')}`,
    ),
  ];
}
