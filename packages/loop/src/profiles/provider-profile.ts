import type { JSONObject } from '@ai-sdk/provider';
import type { ProjectDocument } from '../context/project-documents.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { AskUserToolSet, SubagentToolSet, ToolDefinition, ToolSet } from '../tools/tool.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';

/** The tools, the system prompt and the request options that suit a model family (loop spec 3.2). */
export interface ProviderProfile {
  /** `openai`, `anthropic`, … */
  readonly id: string;
  /** The name that the system prompt gives the model. The session's `model` answers, whatever stands here. */
  readonly model: string;
  /** The tools. Register a tool here to add it, or to replace the one of that name. */
  readonly toolRegistry: ToolRegistry;

  /** The system prompt. Called once per session, which keeps the result so that prompt caches hold. */
  buildSystemPrompt(parts: SystemPromptParts): string;
  /** The same system prompt in the blocks in which it is to be sent. Default: one block. */
  systemBlocks?(parts: SystemPromptParts): string[];
  /** The definitions of the tools for the next request. Contract: in a stable order, so that prompt caches hold. */
  tools(): ToolDefinition[];
  /** Options of the request, by provider name. */
  providerOptions(request: ProviderRequest): Record<string, JSONObject>;

  /** Instruction files that this family reads, as paths relative to each folder. `AGENTS.md` is one of them. */
  readonly projectDocumentNames: readonly string[];
  readonly supportsReasoning: boolean;
  readonly supportsStreaming: boolean;
  /** Where false, the tool calls of a response run one after the other. */
  readonly supportsParallelToolCalls: boolean;
  /** Of `model`, in tokens. */
  readonly contextWindowSize: number;
  /** Tokens of one response at most. Default: the provider's. */
  readonly maxOutputTokens?: number;
  /** The end of the model's knowledge, as its prompt gives it, for example `2025-08`. */
  readonly knowledgeCutoff?: string;
  /** Names and parameters of the tools for subagents. Default `spec`. */
  readonly subagentTools?: SubagentToolSet;
  /** Name and parameters of the tool that asks the user, where the host offers one. Default `spec`. */
  readonly askUserTool?: AskUserToolSet;
}

/** What a system prompt is built from. */
export type SystemPromptParts = {
  environment: ExecutionEnvironment;
  projectDocuments: readonly ProjectDocument[];
  /** Instructions of the host. They come last and have precedence over the others. */
  userInstructions: string | undefined;
};

/** What the options of a request may depend on. */
export type ProviderRequest = { sessionId: string; reasoningEffort: string | undefined };

/** Options of the profiles that this package brings. */
export type ProfileOptions = {
  /** The provider's name for the model. */
  model: string;
  /** Default `spec`. */
  toolSet?: ToolSet;
  /** Request options that override the profile's: safety settings, beta features, service tiers. */
  providerOptions?: JSONObject;
  /** In tokens. Default: that of the model, by the kept lists; for an unknown model that of the family. */
  contextWindowSize?: number;
  /** Tokens of one response at most. Default: the family's. */
  maxOutputTokens?: number;
  /** The end of the model's knowledge, for its prompt, for example `2025-08`. Default: the prompt has none. */
  knowledgeCutoff?: string;
};
