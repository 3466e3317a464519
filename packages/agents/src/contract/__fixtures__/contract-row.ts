import type { Agent, AgentContext } from '../../agent.ts';
import type { CaseName } from './cases.ts';
import type { Scene } from './scene.ts';

/** An adapter as the contract sees it: how to make its agent, and what of the contract it cannot be asked. */
export type ContractRow = {
  name: string;
  /** What its events and facts call it. */
  runtime: string;
  /** Makes the agent as a run does, through `createAgent`. */
  create(options: CreateOptions): Promise<Agent>;
  /** What a turn needs beside its sandbox: a lane whose model plays the scene, say. Default: a lane that nobody answers. */
  openContext?(scene: Scene): Promise<{ context: Partial<AgentContext> } & AsyncDisposable>;
  /** What tells how a turn ended: the agent's own stream, or nothing but its exit code. */
  lastWord: 'stream' | 'exit code';
  /** Its session is its own, and the fake agent is a command of it. Default: what the fake agent calls its session. */
  hasOwnSession?: boolean;
  /** The variable of the model's key where there is no gateway. */
  keyVariable?: string;
  /** What its adapter writes into its home before it starts. */
  settingsFiles?: readonly string[];
  /** Cases that it cannot be asked, each with the reason, which is printed. */
  skips: Partial<Record<CaseName, string>>;
};

export type CreateOptions = {
  /** The user's own environment: PATH, HOME, and variables that an agent's `env` refers to. */
  user: NodeJS.ProcessEnv;
  /** Default: true. */
  hasLanes?: boolean;
  env?: Record<string, string>;
  /** What of the user's home the agent gets. */
  inherit?: string[];
  model?: string;
  /** Its program, or its module, is one that is not there. */
  isMissing?: boolean;
};
