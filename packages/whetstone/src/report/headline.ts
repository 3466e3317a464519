import { counted } from './format.ts';
import type { Summary } from './summary.ts';

const VERDICTS = ['better', 'worse', 'equivalent', 'inconclusive'] as const;

/** The run in one or two sentences: the verdicts where there are comparisons, else the counts. */
export function headline({
  cases,
  comparisons,
  baseline,
  scripted_model,
}: Pick<Summary, 'cases' | 'comparisons' | 'baseline' | 'scripted_model'>): string {
  const script = scripted_model ? 'The model was a script. ' : '';
  const withResult = cases.passed + cases.failed;
  if (withResult === 0) return `${script}${withoutResult(cases)}`;
  const [only, ...others] = comparisons;
  if (only === undefined) return `${script}${passedOf(cases, withResult)}.`;
  if (others.length === 0) return `${script}${only.variant} against ${baseline}: ${only.sentence}.`;
  const manyAgents = comparisons.some((one) => one.agent !== only.agent);
  const groups = VERDICTS.flatMap((verdict) => {
    const names = comparisons
      .filter((one) => one.verdict === verdict)
      .map((one) => (manyAgents ? `${one.variant} (${one.agent})` : one.variant));
    return names.length === 0 ? [] : `${verdict}: ${names.join(', ')}`;
  });
  return `${script}Against ${baseline}: ${groups.join('; ')}.`;
}

function passedOf({ passed, error, not_run }: Summary['cases'], withResult: number): string {
  const missing = error > 0 ? [`${counted(error, 'error')} without a result`] : [];
  const unplayed = not_run > 0 ? [`${not_run} did not run`] : [];
  return [`${passed} of ${counted(withResult, 'case')} passed`, ...missing, ...unplayed].join('; ');
}

function withoutResult({ planned, error, skipped }: Summary['cases']): string {
  if (planned > 0 && skipped === planned)
    return `None of ${counted(planned, 'case')} has a result: all skipped themselves.`;
  if (error === 0) return `None of ${counted(planned, 'case')} has finished.`;
  return `None of ${counted(planned, 'case')} has a result: ${counted(error, 'error')}.`;
}
