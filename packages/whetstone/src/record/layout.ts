import { join } from 'node:path';

/** The paths in a run directory. Only this file knows them. */
export const runLayout = (directory: string) => ({
  manifest: join(directory, 'manifest.json'),
  journal: join(directory, 'journal.jsonl'),
  results: join(directory, 'results.jsonl'),
  summary: join(directory, 'summary.json'),
  report: join(directory, 'report.md'),
  lock: join(directory, 'run.lock'),
  cases: join(directory, 'cases'),
  /** The output of `environment.prepare`, a folder for each environment. */
  environments: join(directory, 'environments'),
  case: (id: string) => join(directory, 'cases', id),
});

export const caseLayout = (directory: string) => ({
  prompt: join(directory, 'prompt.md'),
  events: join(directory, 'events.jsonl'),
  agent: join(directory, 'agent.json'),
  patch: join(directory, 'changes.patch'),
  result: join(directory, 'result.json'),
  modelCalls: join(directory, 'model-calls.jsonl'),
  judgeCalls: join(directory, 'judge-calls.jsonl'),
  judgements: join(directory, 'judgements.jsonl'),
  verify: join(directory, 'verify'),
  setup: join(directory, 'setup'),
  services: join(directory, 'services'),
  output: join(directory, 'output'),
  workspace: join(directory, 'workspace'),
  outputData: join(directory, 'output-data.json'),
  review: join(directory, 'soft-evaluation.json'),
  assertions: join(directory, 'assertions.json'),
  turns: join(directory, 'turns.json'),
  evalInput: join(directory, 'eval.json'),
  evalLog: join(directory, 'eval.log'),
  stdout: join(directory, 'stdout.log'),
  stderr: join(directory, 'stderr.log'),
});

/** What a clean room printed that an eval asked for, counted from 1. */
export const checkFolder = (directory: string, number: number): string => join(directory, `check-${number}`);

export type CaseLayout = ReturnType<typeof caseLayout>;
