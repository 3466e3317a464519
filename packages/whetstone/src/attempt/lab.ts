import type { Agent, DeclaredContext } from '@whetstone/agents';
import type { AgentConfig } from '@whetstone/agents/config';
import type { Gateway, LaneOptions } from '@whetstone/gateway';
import type { Mask, SandboxProvider } from '@whetstone/sandbox';
import type { GatewayMode, TaskConfig, VariantConfig } from '../config/config.ts';
import type { PlannedCase } from '../plan/plan.ts';
import type { RunRecord } from '../record/run-record.ts';
import type { Workspaces } from '../workspace/workspace.ts';

/** Everything an attempt uses and does not own: made once a run, shared by its cases. */
export type Lab = {
  workspaces: Workspaces;
  sandboxes: SandboxProvider;
  /** Absent when the run has no gateway: agents then talk to their providers themselves. */
  gateway?: LabGateway;
  record: RunRecord;
  /** A folder for what belongs to one attempt and is neither its workspace nor its sandbox. */
  scratch: string;
  /** Masks the secrets that agents were given, in everything that will be kept. */
  mask: Mask;
  /** Whether the mask has anything to look for. */
  hasSecrets: boolean;
  version: string;
};

export type LabGateway = {
  server: Gateway;
  mode: GatewayMode['mode'];
  /** How the lane of a case is opened. `names`: the folders of the attempt, and what stands for them in a recording. */
  laneOf(planned: PlannedCase, names: Readonly<Record<string, string>>): Promise<CaseLane>;
};
export type CaseLane = Pick<LaneOptions, 'mode' | 'faults' | 'budget' | 'allowProviderTools'>;

/** One case with what it names. */
export type Attempt = {
  planned: PlannedCase;
  agent: Agent;
  agentConfig: AgentConfig;
  task: TaskConfig;
  variant: VariantConfig;
  /** What the variant gives the agent besides the tree. */
  context: DeclaredContext;
  /** Commit SHA. */
  commit: string;
  prompt: string;
  /** Infrastructure retries before this try. */
  retries: number;
  signal: AbortSignal;
};
