import { expect, test } from 'vitest';
import { sampleRun } from './__fixtures__/sample-run.ts';
import { evidenceFiles } from './evidence-files.ts';

const [sample] = sampleRun().rows;
if (!sample) throw new Error('no row');
const failed = {
  ...sample,
  agent_exit_code: 1,
  changed_files: 1,
  validation_results: [
    {
      command: 'npm test',
      exit_code: 1,
      duration_seconds: 1,
      ended: 'exit' as const,
      stdout_path: 'verify/validation-0.stdout.log',
      stderr_path: 'verify/validation-0.stderr.log',
    },
  ],
};
const labels = (row: typeof failed) => evidenceFiles(row).map(({ label }) => label);

test('where the work was judged, the failed command comes first', () => {
  const row = { ...failed, outcome: 'failed', failure_class: 'agent' } as const;
  expect(labels(row)[0]).toBe('validation output');
});

test.each(['harness', 'provider-limit', 'provider-outage', 'sandbox'] as const)(
  'a command that failed after an error of class %s is not shown as the reason',
  (failure_class) => {
    const row = { ...failed, outcome: 'error', failure_class } as const;
    expect(labels(row)).toEqual([
      'agent output',
      'agent errors',
      'patch',
      'validation output',
      'validation errors',
      'result',
    ]);
  },
);

test.each(['timeout', 'budget'] as const)(
  'a command that failed after the agent had reached its %s is not shown as the reason',
  (failure_class) => {
    const row = { ...failed, outcome: 'failed', failure_class } as const;
    expect(labels(row)[0]).toBe('agent output');
  },
);

test('an agent that did not complete is shown before what failed afterwards', () => {
  const row = { ...failed, outcome: 'failed', failure_class: 'agent', status: 'agent_failed' } as const;
  expect(labels(row).slice(0, 2)).toEqual(['agent errors', 'agent output']);
});
