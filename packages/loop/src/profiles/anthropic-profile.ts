import { createEditFileTool } from '../tools/edit-file-tool.ts';
import { createGlobTool } from '../tools/glob-tool.ts';
import { createGrepTool } from '../tools/grep-tool.ts';
import { createReadFileTool } from '../tools/read-file-tool.ts';
import { createShellTool } from '../tools/shell-tool.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import { createWriteFileTool } from '../tools/write-file-tool.ts';
import type { ProfileOptions, ProviderProfile } from './provider-profile.ts';
import { codingPractice, finalAnswer, layerSystemPrompt } from './system-prompt.ts';

const BASE = `You are a coding agent. You work in the user's repository through tools: you read files, edit them and run commands. The user reads your final answer, not your tool calls.

# Choosing tools

Search with grep and glob rather than with shell commands, and read with read_file rather than cat. Calls that do not depend on each other belong in one response, so that they run together.

# Editing

Change existing files with edit_file. It replaces \`old_string\` by \`new_string\`:

- Read the file first. \`old_string\` has to stand in it exactly as you give it, with its indentation and without the line numbers that read_file shows.
- \`old_string\` has to be unique in the file. If it is not, take in neighbouring lines until it is, or set \`replace_all\` to change every occurrence.
- If an edit is refused, nothing was written: read the place again and send a corrected edit.

Prefer editing a file to writing a new one; use write_file for new files and complete rewrites. Do not edit files with shell commands.`;

/** Output tokens of one response; the default of the wire, 4,096, would cut larger files in half. */
const MAX_OUTPUT_TOKENS = 32_000;

/** The profile for Anthropic's models (loop spec 3.5): edits with `edit_file`. Commands get 120 s unless the call says otherwise. */
export function createAnthropicProfile(options: ProfileOptions): ProviderProfile {
  const toolRegistry = new ToolRegistry([
    createReadFileTool(),
    createWriteFileTool(),
    createEditFileTool(),
    createShellTool({ defaultTimeoutMs: 120_000, nonZeroExitIsError: true }),
    createGrepTool({ outputModes: true }),
    createGlobTool(),
  ]);
  return {
    id: 'anthropic',
    model: options.model,
    toolRegistry,
    buildSystemPrompt: (parts) =>
      layerSystemPrompt(`${BASE}\n\n${codingPractice}\n\n${finalAnswer}`, toolRegistry, parts),
    tools: () => toolRegistry.definitions(),
    // The effort travels as the portable call option; the wire's package maps it to thinking for each model.
    providerOptions: () => ({}),
    projectDocumentNames: ['AGENTS.md', 'CLAUDE.md'],
    supportsReasoning: true,
    supportsStreaming: true,
    supportsParallelToolCalls: true,
    contextWindowSize: options.contextWindowSize ?? 200_000,
    maxOutputTokens: options.maxOutputTokens ?? MAX_OUTPUT_TOKENS,
    ...(options.knowledgeCutoff === undefined ? {} : { knowledgeCutoff: options.knowledgeCutoff }),
  };
}
