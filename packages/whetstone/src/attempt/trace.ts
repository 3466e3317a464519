import type { Turn } from '@whetstone/agents';
import type { Lane } from '@whetstone/gateway';
import type { Exposure } from '../record/exposure-schema.ts';
import type { Verification } from '../verify/verify.ts';
import type { Changes } from '../workspace/workspace.ts';

/** What is known of an attempt so far. When a step fails, what the steps before it found is kept. */
export type Trace = {
  turnsSent: number;
  /** The turns that have ended. */
  turns: Turn[];
  agentSeconds?: number;
  changes?: Changes;
  verification?: Verification;
  calls: Lane['ledger'];
  /** Set where the variant declares a context. */
  exposure?: Exposure;
  /** What a kept artifact lacks: what was masked in it or left out. */
  artifactNotes: string[];
};
