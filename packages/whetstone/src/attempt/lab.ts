import type { Agent, AskHuman, DeclaredContext, Turn } from '@whetstone/agents';
import type { AgentConfig } from '@whetstone/agents/config';
import type { Gateway, Lane, LaneOptions } from '@whetstone/gateway';
import type { HostRequest, Mask, SandboxProvider, Usage } from '@whetstone/sandbox';
import type { GatewayMode, JudgeConfig, ServiceConfig, TaskConfig, VariantConfig } from '../config/config.ts';
import type { Environments } from '../environment/open-environments.ts';
import type { AssertionRecord } from '../eval/assertions/assertion.ts';
import type { EvalWorkers } from '../eval/eval-workers.ts';
import type { PlannedCase } from '../plan/plan.ts';
import type { Exposure } from '../record/exposure-schema.ts';
import type { CaseRow, CommandRow, EarlierAttempts } from '../record/row.ts';
import type { RunRecord } from '../record/run-record.ts';
import type { MaskingOfTask } from '../verify/masks/plan-masks.ts';
import type { Verification } from '../verify/verify.ts';
import type { DiskUsage } from '../workspace/case-disk.ts';
import type { Seal } from '../workspace/seal.ts';
import type { Changes, EquippedEnvironment, Snapshot, Workspaces } from '../workspace/workspace.ts';
import type { Contamination } from './find-canaries.ts';

/** Everything that an attempt uses and does not own. Made once per run and shared by its cases. */
export type Lab = {
  /** Where agents work on files, and clean rooms are made. Absent in a run in which no agent does. */
  workplace?: Workplace;
  /** Absent when the run has no gateway. Agents then call their providers directly. */
  gateway?: LabGateway;
  /** Who judges what evals ask, and its own gateway. Absent in a run without a judge. */
  judge?: LabJudge;
  record: RunRecord;
  /** Masks, in everything that is kept, the secrets that agents were given and the keys of providers. It learns more while adapters run. */
  mask: Mask;
  version: string;
  /** The processes that run the code of evals. Absent in a run without evals. */
  evals?: EvalWorkers;
  /** Where an attempt makes the folders of an agent without a workspace. */
  scratch: string;
  /** Asks a person what no rule of the agent's policy decides. Default: nobody is asked. */
  ask?: AskHuman;
  /** Whether a copy of each workspace is kept. */
  keepWorkspace?: boolean;
};

export type LabJudge = {
  config: JudgeConfig;
  fingerprint: string;
  /** The agent of `config`, if it has one. */
  agent?: Agent;
  gateway: JudgeGateway;
};

/** Who can judge. Each has a lane of its own in a case, so that the calls of one are not taken for those of the other. */
export type JudgeKind = 'model' | 'agent';

export type JudgeGateway = Pick<LabGateway, 'server'> & {
  laneOf(planned: Pick<PlannedCase, 'id'>, by: JudgeKind): Promise<CaseLane>;
};

export type Workplace = {
  workspaces: Workspaces;
  sandboxes: SandboxProvider;
  /** Started for each agent and each clean room. */
  services: readonly ServiceConfig[];
  /** Absent: nothing is prepared. */
  environments?: Environments;
  /** How the tests of tasks are masked, by task. Without a task: it has no tests. */
  maskings?: ReadonlyMap<string, MaskingOfTask>;
  /** The folders of hidden tests, as they were before the first case. */
  hidden: ReadonlyMap<string, Seal>;
};

/** The model calls of a judge. `isMetered`: whether they are all; an agent may call its model past the gateway. */
export type JudgeCalls = { ledger: Lane['ledger']; isMetered: boolean };

export type LabGateway = {
  server: Gateway;
  mode: GatewayMode['mode'];
  /** Whether each case keeps the requests and replies of its model calls. */
  keepsExchanges: boolean;
  /** Options for the lane of a case. `names`: what replaces the folders of the attempt in a recording. */
  laneOf(planned: Pick<PlannedCase, 'id'>, names: Readonly<Record<string, string>>): Promise<CaseLane>;
};
export type CaseLane = Pick<
  LaneOptions,
  'mode' | 'faults' | 'budget' | 'allowProviderTools' | 'allowEndpoints'
>;

/** One case with everything that it names, resolved. */
export type Attempt = {
  planned: PlannedCase;
  agent: Agent;
  agentConfig: AgentConfig;
  task: TaskConfig;
  variant: VariantConfig;
  /** The context that the variant declares for the agent. */
  context: DeclaredContext;
  /** Commit SHA. */
  commit: string;
  prompt: string;
  /** The attempts of this case before this one, which ended in an error or were interrupted. */
  earlier?: EarlierAttempts;
  signal: AbortSignal;
  /** Called when a phase begins, for each tool call of the agent, and when it waits for its provider. */
  onProgress?: (progress: CaseProgress) => void;
};

/** What a running case does. `action` is the last thing that the agent did; `waiting`: what it waits for, if not for itself. */
export type CaseProgress = { phase: 'setup' | 'agent' | 'verification'; action?: string; waiting?: string };

/** What is known of an attempt so far. When a step fails, what the steps before it found is kept. */
export type Trace = {
  turnsSent: number;
  turns: Turn[];
  agentSeconds?: number;
  /** Of the sandbox of the agent. */
  usage?: Usage;
  namesAsked?: readonly string[];
  disk?: DiskUsage | undefined;
  hostRequests?: readonly HostRequest[];
  /** A sentence about a service that ended beside the agent. */
  serviceEnded?: string | undefined;
  /** Whether the agent is being driven, or its drive failed. */
  isDriving?: boolean;
  /** Whether the agent and all its processes have ended, so that what fails now fails on what it left. */
  isGrading?: boolean;
  /** Set where the configuration has an `environment`. */
  environment?: EquippedEnvironment;
  /** Why the tests of the task ran as they are. */
  unmasked?: string;
  /** The tree that the workspace started from. */
  snapshot?: Snapshot;
  changes?: Changes;
  /** Canaries of what the agent must not have seen. */
  contamination?: Contamination[];
  verification?: Verification;
  calls: Lane['ledger'];
  /** Set once a gateway has seen a request. */
  seen?: Pick<CaseRow, 'first_request' | 'instruction_files'>;
  /** Set where the variant declares a context. */
  exposure?: Exposure;
  /** The commands of each clean room that an eval asked for. */
  checks: CommandRow[][];
  /** The model calls of the judge, which are not the agent's. */
  judgeCalls?: readonly JudgeCalls[];
  /** What an eval asserted, with secrets masked. */
  assertions?: AssertionRecord[];
  /** Whether a copy of the workspace is in the folder of the case. */
  workspaceKept?: boolean;
  /** What a kept artifact lacks: what was masked in it or left out. */
  artifactNotes: string[];
};

/** How many turns an attempt has when nothing goes wrong: the prompt and the follow-ups. */
export const plannedTurns = ({ followUps = [] }: Pick<TaskConfig, 'followUps'>): number =>
  1 + followUps.length;
