import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { evidenceProblems } from './file-hashes.ts';
import { runLayout } from './layout.ts';
import { type ReadRun, unreadText } from './read-run.ts';

/** What a signature of a run is about: `attestation.json`. */
export type Attestation = {
  schema_version: '1';
  run_id: string;
  whetstone_version: string;
  /** sha256. The rows of the journal have those of the evidence of each case. */
  files: { 'manifest.json': string; 'journal.jsonl': string };
  tasks: { id: string; commit: string; fingerprint: string }[];
  variants: { name: string; fingerprint: string }[];
  agents: { name: string; kind: string; version: string | null; fingerprint: string }[];
  /** The models that answered. */
  models: string[];
  isolation: ReadRun['manifest']['isolation'];
  results: Record<'passed' | 'failed' | 'error' | 'skipped' | 'missing', number>;
};

export async function attestationOf({ directory, manifest, rows }: ReadRun): Promise<Attestation> {
  const layout = runLayout(directory);
  const sha256 = async (file: string) =>
    createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  const outcomes = [...rows.values()].map(({ outcome }) => outcome);
  const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
  return {
    schema_version: '1',
    run_id: manifest.run_id,
    whetstone_version: manifest.whetstone_version,
    files: {
      'manifest.json': await sha256(layout.manifest),
      'journal.jsonl': await sha256(layout.journal),
    },
    tasks: manifest.tasks.map(({ id, commit, fingerprint }) => ({ id, commit, fingerprint })),
    variants: manifest.variants.map(({ name, fingerprint }) => ({ name, fingerprint })),
    agents: manifest.agents,
    models: [...new Set([...rows.values()].flatMap(({ models }) => models))].sort(),
    isolation: manifest.isolation,
    results: {
      passed: count('passed'),
      failed: count('failed'),
      error: count('error'),
      skipped: count('skipped'),
      missing: manifest.case_count - rows.size,
    },
  };
}

/** What in a run directory does not fit together, in sentences. */
export const misfitsOf = (run: ReadRun): string[] => [
  ...(run.started === undefined ? ['journal.jsonl is missing, or no line of it can be read.'] : []),
  ...run.unread.map(unreadText),
  ...evidenceProblems(run),
];
