import type { Finding } from '@whetstone/sandbox';
import type { CaseProgress } from '../attempt/lab.ts';
import type { EnvironmentEvent } from '../environment/open-environments.ts';
import type { PlannedCase } from '../plan/plan.ts';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import type { SequentialState } from '../report/sequential.ts';

/** `probes`: what was tried in it, in vain. `reasons`: the configuration left the choice, and this is nothing stronger. */
export type SandboxShown = {
  provider: string;
  level: number;
  probes?: readonly Finding[];
  reasons?: readonly string[];
};

/** What happens in a run. */
export type RunEvent =
  /** An environment is prepared or waited for, is ready, or was changed while cases used it. */
  | EnvironmentEvent
  /** The plan is made; workspaces, agents and the gateway are being prepared. */
  | { type: 'preparing' }
  /** Where commands run is known, and it confines them or was chosen. */
  | ({ type: 'sandbox.chosen' } & SandboxShown)
  /** Something that a user should know before the run costs anything. */
  | { type: 'warned'; message: string }
  /**
   * The run directory is open. `done` of `total` cases need no running, because an earlier run finished them; `reused` of
   * these are results of another run.
   */
  | { type: 'started'; manifest: Manifest; directory: string; done: number; reused: number; total: number }
  | { type: 'case.started'; planned: PlannedCase }
  /** A phase of a running case has begun, or its agent has called a tool or waits for its provider. */
  | ({ type: 'case.progressed'; planned: PlannedCase } & CaseProgress)
  /** The infrastructure failed the case (`evidence` says how), and it is run once more. */
  | { type: 'case.retried'; planned: PlannedCase; evidence: string }
  /**
   * The case does not run, because another trial of the same work has passed (early exit), or because a sequential run ended
   * at a look before it.
   */
  | { type: 'case.left-out'; planned: PlannedCase; why: 'passed' | 'look' }
  /** All cases of a look of a sequential run have finished. */
  | { type: 'look.taken'; state: SequentialState }
  | { type: 'case.finished'; planned: PlannedCase; row: CaseRow };
