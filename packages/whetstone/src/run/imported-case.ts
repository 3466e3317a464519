import type { StreamEvent, Usage } from '@whetstone/events';
import type { CaseRow } from '../record/row.ts';
import type { HarborTree } from './harbor-tree.ts';

/** One case of another tool. What its source does not say is `null`. */
export type ImportedCase = {
  task: string;
  /** Tells tasks of the same name with another content apart. */
  fingerprint: string;
  agent: { name: string; kind: string; version: string | null };
  /** The tool's own number of the attempt, from 1; `null`: it is counted in the order of reading. */
  trial: number | null;
  outcome: Extract<CaseRow['outcome'], 'passed' | 'failed' | 'error'>;
  /** Of an error: what could not work. */
  failureClass?: 'harness' | 'verifier';
  /** Why it is no pass, in one sentence. */
  evidence: string | null;
  /** From 0 to 1, where the source grades. */
  score: number | null;
  startedAt: string | null;
  seconds: number | null;
  agentSeconds: number | null;
  /** Empty: the source has no transcript. */
  events: readonly StreamEvent[];
  usage: Usage | null;
  costUsd: number | null;
  models: readonly string[];
  /** The files as the agent left them. Absent: nobody looked for them. */
  tree?: HarborTree;
};
