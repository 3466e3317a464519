import { listOfTexts } from '../control/check-options.ts';
import { createEditFileTool } from '../tools/edit-file-tool.ts';
import { globTool } from '../tools/glob-tool.ts';
import { createGrepTool } from '../tools/grep-tool.ts';
import { createClaudeCodeTools } from '../tools/native/claude-code-tools.ts';
import { readFileTool } from '../tools/read-file-tool.ts';
import { createShellTool } from '../tools/shell-tool.ts';
import type { RegisteredTool } from '../tools/tool.ts';
import { createWriteFileTool } from '../tools/write-file-tool.ts';
import { createProfile } from './create-profile.ts';
import type { ProfileOptions, ProviderProfile } from './provider-profile.ts';
import { codingPractice, finalAnswer } from './system-prompt.ts';

const SPEC_NAMES = { read: 'read_file', edit: 'edit_file', write: 'write_file', grep: 'grep', glob: 'glob' };
const NATIVE_NAMES: typeof SPEC_NAMES = {
  read: 'Read',
  edit: 'Edit',
  write: 'Write',
  grep: 'Grep',
  glob: 'Glob',
};

const baseText = ({ read, edit, write, grep, glob }: typeof SPEC_NAMES) =>
  `You are a coding agent. You work in the user's repository through tools: you read files, edit them and run commands. The user reads your final answer, not your tool calls.

# Choosing tools

Search with ${grep} and ${glob} rather than with shell commands, and read with ${read} rather than cat. Calls that do not depend on each other belong in one response, so that they run together.

# Editing

Change existing files with ${edit}. It replaces \`old_string\` by \`new_string\`:

- Read the file first. \`old_string\` has to stand in it exactly as you give it, with its indentation and without the line numbers that ${read} shows.
- \`old_string\` has to be unique in the file. If it is not, take in neighbouring lines until it is, or set \`replace_all\` to change every occurrence.
- If an edit is refused, nothing was written: read the place again and send a corrected edit.

Prefer editing a file to writing a new one; use ${write} for new files and complete rewrites. Do not edit files with shell commands.

${codingPractice}

${finalAnswer}`;

export type AnthropicProfileOptions = ProfileOptions & {
  /** Values of the `anthropic-beta` header, for example `context-1m-2025-08-07`. */
  betaHeaders?: readonly string[];
};

/** The profile for Anthropic's models (loop spec 3.5). Edits replace text; commands get 120 s by default. */
export function createAnthropicProfile(options: AnthropicProfileOptions): ProviderProfile {
  const native = options.toolSet === 'native';
  const { betaHeaders = [] } = options;
  return createProfile(options, {
    id: 'anthropic',
    options: { betaHeaders: listOfTexts },
    tools: native ? createClaudeCodeTools() : specTools(),
    baseText: baseText(native ? NATIVE_NAMES : SPEC_NAMES),
    // The effort travels as the portable call option; the wire's package maps it to thinking for each model.
    requestOptions: {
      provider: 'anthropic',
      of: () => (betaHeaders.length === 0 ? {} : { anthropicBeta: [...betaHeaders] }),
    },
    projectDocumentNames: ['AGENTS.md', 'CLAUDE.md'],
    contextWindowSize: 200_000,
    extendedWindow: betaHeaders.some((header) => header.startsWith('context-1m-')) ? 1_000_000 : undefined,
    // The default of the wire, 4,096, would cut larger files in half.
    maxOutputTokens: 32_000,
    subagentTools: native ? 'claude-code' : 'spec',
    askUserTool: native ? 'claude-code' : 'spec',
  });
}

function specTools(): RegisteredTool[] {
  return [
    readFileTool,
    createWriteFileTool(),
    createEditFileTool(),
    createShellTool({ defaultTimeoutMs: 120_000, nonZeroExitIsError: true }),
    createGrepTool({ outputModes: true }),
    globTool,
  ];
}
