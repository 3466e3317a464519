import type { AgentFacts } from '@whetstone/events';
import type { Agent, AgentContext } from '../../agent.ts';
import type { Permissions } from '../../policy/permissions.ts';
import type { ContractAgent } from './not-applicable.ts';
import type { Scene } from './scene.ts';

/** An adapter that the contract tests: how to make its agent, and what the cases need to know about it. */
export type ContractRow = {
  name: ContractAgent;
  /** The runtime in its events and facts. */
  runtime: string;
  /** Makes the agent as a run does, through `createAgent`. */
  create(options: CreateOptions): Promise<Agent>;
  /** What a turn needs besides its sandbox, such as a lane whose model plays the scene. Default: an unanswered lane. */
  openContext?(scene: Scene): Promise<{ context: Partial<AgentContext> } & AsyncDisposable>;
  /** What decides how a turn ended: the agent's stream, or only its exit code. */
  lastWord: 'stream' | 'exit code';
  /** The adapter has its own sessions and runs the fake agent as a command. Default: the fake agent has the session. */
  hasOwnSession?: boolean;
  /** The rule by which the policy refuses a command. Default: the agent asks nobody, and refuses by itself. */
  rule?: string;
  /** What the fake agent says that it may do. Default: nothing. */
  own?: AgentFacts['own'];
  /** The variable for the model's key without a gateway. */
  keyVariable?: string;
  /** What the name of a model begins with. Default: nothing. */
  provider?: string;
  /** Files that the adapter writes into the home before the agent starts. */
  settingsFiles?: readonly string[];
};

export type CreateOptions = {
  /** The user's own environment: PATH, HOME, and variables that an agent's `env` refers to. */
  user: NodeJS.ProcessEnv;
  /** Default: true. */
  hasLanes?: boolean;
  env?: Record<string, string>;
  /** Files of the user's home that the agent gets. */
  inherit?: string[];
  model?: string;
  /** Default: those with which the agent begins. Only of agents that Whetstone drives. */
  permissions?: Partial<Permissions>;
  /** The program or the module of the agent does not exist. */
  isMissing?: boolean;
};
