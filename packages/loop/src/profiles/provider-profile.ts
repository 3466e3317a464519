import type { JSONObject } from '@ai-sdk/provider';
import type { ProjectDocument } from '../context/project-documents.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { AskUserToolSet, SubagentToolSet, ToolSet } from '../tools/tool-set.ts';

/** What a model family works best with: its tools, its prompt, its request options (loop spec 3.2). */
export interface ProviderProfile {
  /** `openai`, `anthropic`, … */
  readonly id: string;
  /** The name that the model is told it has; what answers is the session's `model`. */
  readonly model: string;
  /** Register a tool here to add it, or to replace the profile's of that name. */
  readonly toolRegistry: ToolRegistry;

  /** Called once a session; what it returns is kept, so that prompt caches hold. */
  buildSystemPrompt(parts: SystemPromptParts): string;
  /** The same prompt as the blocks in which it is to be sent. Default: one. */
  systemBlocks?(parts: SystemPromptParts): string[];
  /** The tools of the next request, in a stable order. */
  tools(): ToolDefinition[];
  /** Options of the request, by provider name. */
  providerOptions(request: ProviderRequest): Record<string, JSONObject>;

  /** Instruction files that this family reads, as paths below each folder. `AGENTS.md` is among them. */
  readonly projectDocumentNames: readonly string[];
  readonly supportsReasoning: boolean;
  readonly supportsStreaming: boolean;
  readonly supportsParallelToolCalls: boolean;
  /** In tokens. */
  readonly contextWindowSize: number;
  /** Tokens of one response; the provider's default where absent. */
  readonly maxOutputTokens?: number;
  /** For the environment block, for example `2025-08`. */
  readonly knowledgeCutoff?: string;
  /** The names under which this family knows the tools for subagents. Default `spec`. */
  readonly subagentTools?: SubagentToolSet;
  /** The name under which this family asks the user, where the host lets it. Default `spec`. */
  readonly askUserTool?: AskUserToolSet;
}

export type SystemPromptParts = {
  environment: ExecutionEnvironment;
  projectDocuments: readonly ProjectDocument[];
  /** The host's own instructions; they come last and win. */
  userInstructions: string | undefined;
};

export type ProviderRequest = { sessionId: string; reasoningEffort: string | undefined };

export type ProfileOptions = {
  model: string;
  toolSet?: ToolSet;
  /** Request options of the family's provider, over the profile's own: safety settings, beta features, service tiers. */
  providerOptions?: JSONObject;
  /** In tokens. Default: what the family's current models have. */
  contextWindowSize?: number;
  /** Tokens of one response. */
  maxOutputTokens?: number;
  knowledgeCutoff?: string;
};
