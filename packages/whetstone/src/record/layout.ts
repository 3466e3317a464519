import { join, sep } from 'node:path';

/** The paths in a run directory. Only this file knows them. */
export const runLayout = (directory: string) => ({
  manifest: join(directory, 'manifest.json'),
  journal: join(directory, 'journal.jsonl'),
  results: join(directory, 'results.jsonl'),
  summary: join(directory, 'summary.json'),
  report: join(directory, 'report.md'),
  tags: join(directory, 'tags.json'),
  labels: join(directory, 'labels.jsonl'),
  attestation: join(directory, 'attestation.json'),
  signature: join(directory, 'attestation.json.sig'),
  lock: join(directory, 'run.lock'),
  cases: join(directory, 'cases'),
  /** The output of `environment.prepare`, a folder for each environment. */
  environments: join(directory, 'environments'),
  case: (id: string) => join(directory, 'cases', id),
});

/** Made for every case several times, so no path is normalized. */
export function caseLayout(directory: string) {
  const at = (name: string) => (directory === '' ? name : `${directory}${sep}${name}`);
  return {
    prompt: at('prompt.md'),
    events: at('events.jsonl'),
    agent: at('agent.json'),
    patch: at('changes.patch'),
    result: at('result.json'),
    modelCalls: at('model-calls.jsonl'),
    exchanges: at('model-exchanges.jsonl.zst'),
    judgeCalls: at('judge-calls.jsonl'),
    judgements: at('judgements.jsonl'),
    verify: at('verify'),
    setup: at('setup'),
    services: at('services'),
    output: at('output'),
    workspace: at('workspace'),
    outputData: at('output-data.json'),
    review: at('soft-evaluation.json'),
    assertions: at('assertions.json'),
    turns: at('turns.json'),
    evalInput: at('eval.json'),
    evalLog: at('eval.log'),
    stdout: at('stdout.log'),
    stderr: at('stderr.log'),
  };
}

/** What a clean room printed that an eval asked for, counted from 1. */
export const checkFolder = (directory: string, number: number): string => join(directory, `check-${number}`);

export type CaseLayout = ReturnType<typeof caseLayout>;
