import { totalTokens } from '@whetstone/events';
import type { ProviderResult } from './run-steps.ts';
import { steps } from './steps.ts';

/** A table of steps and providers, and below it the reason of each failure. */
export function formatResults(results: readonly ProviderResult[]): string {
  const rows = [
    ['step', ...results.map(({ endpoint }) => `${endpoint.name} (${endpoint.model})`)],
    ...steps.map(({ title }, index) => [
      `${index + 1} ${title}`,
      ...results.map((result) => cell(result.steps[index])),
    ]),
    ['tokens', ...results.map(({ usage }) => (usage ? totalTokens(usage).toLocaleString('en-US') : '-'))],
  ];
  const failures = results.flatMap(({ endpoint, steps: done }) =>
    done.flatMap(({ title, failure }, index) =>
      failure === undefined ? [] : [`FAIL  ${endpoint.name}, ${index + 1} ${title}: ${failure}`],
    ),
  );
  return [...align(rows), ...(failures.length > 0 ? ['', ...failures] : [])].join('\n');
}

function cell(step: ProviderResult['steps'][number] | undefined): string {
  if (!step) return '-';
  return `${step.failure === undefined ? 'pass' : 'FAIL'} ${(step.durationMs / 1000).toFixed(1)} s`;
}

function align(rows: readonly string[][]): string[] {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(width(column)))
      .join('  ')
      .trimEnd(),
  );
}
