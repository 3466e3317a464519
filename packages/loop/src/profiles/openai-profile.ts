import { applyPatchTool } from '../tools/apply-patch-tool.ts';
import { globTool } from '../tools/glob-tool.ts';
import { createGrepTool } from '../tools/grep-tool.ts';
import { createCodexTools } from '../tools/native/codex-tools.ts';
import { readFileTool } from '../tools/read-file-tool.ts';
import { createShellTool } from '../tools/shell-tool.ts';
import type { RegisteredTool } from '../tools/tool.ts';
import { createWriteFileTool } from '../tools/write-file-tool.ts';
import { createProfile } from './create-profile.ts';
import type { ProfileOptions, ProviderProfile } from './provider-profile.ts';
import { codingPractice, finalAnswer } from './system-prompt.ts';

/** `whole`: how the tool set makes new files besides. */
const baseText = ({ search, whole }: { search: string; whole: string }) =>
  `You are a coding agent. You work in the user's repository through tools: you read files, edit them with patches and run commands. The user reads your final answer, not your tool calls.

# Choosing tools

${search} Calls that do not depend on each other belong in one response.

# Editing

Change files with apply_patch. A patch begins with the line \`*** Begin Patch\` and ends with \`*** End Patch\`. Between them are sections, one per file:

- \`*** Add File: <path>\`, then every line of the new file with a \`+\` in front.
- \`*** Delete File: <path>\`, and nothing below it.
- \`*** Update File: <path>\`, optionally \`*** Move to: <new path>\`, then one or more chunks.

A chunk begins with \`@@\`, optionally followed by a line of the file that stands above the change (a function or class header, say) to find the place. Then come lines of context with a space in front, removed lines with \`-\` and added lines with \`+\`. Give about three lines of context before and after the change, exactly as they stand in the file, and keep the chunks of a file in the order of the file. \`*** End of File\` after a chunk says that it ends the file. Each file may have only one section in a patch. Example:

*** Begin Patch
*** Update File: src/greet.py
@@ def greet(name):
     if not name:
-        return "Hello"
+        return "Hello, stranger"
     return f"Hello, {name}"
*** End Patch

If a patch is refused, nothing was written: read the file again and send a corrected patch.${whole} Do not edit files with shell commands where a patch would do.

${codingPractice}

${finalAnswer}`;

const SPEC_TEXT = {
  search:
    'Search with grep and glob rather than with shell commands, and read with read_file rather than cat.',
  whole: ' Use write_file for a new file or a complete rewrite.',
};
const NATIVE_TEXT = {
  search:
    'Search with rg and read with sed -n or cat through exec_command. A command that runs on has a session ID: poll it with write_stdin, and end what you no longer need.',
  whole: '',
};

/**
 * The profile for OpenAI's models (loop spec 3.4): edits with `apply_patch`, a grammar tool where the wire is the
 * Responses API. Commands get 10 s unless the call asks for more; with the native tools they run on after that time.
 */
export function createOpenAiProfile(options: ProfileOptions): ProviderProfile {
  const native = options.toolSet === 'native';
  return createProfile(options, {
    id: 'openai',
    tools: native ? createCodexTools() : specTools(),
    baseText: baseText(native ? NATIVE_TEXT : SPEC_TEXT),
    // Nothing is stored at the provider, so reasoning travels encrypted in the history.
    requestOptions: {
      provider: 'openai',
      of: ({ sessionId, reasoningEffort }) => ({
        store: false,
        promptCacheKey: sessionId,
        parallelToolCalls: true,
        ...(reasoningEffort === undefined ? {} : { reasoningEffort, reasoningSummary: 'auto' }),
      }),
    },
    projectDocumentNames: ['AGENTS.md', '.codex/instructions.md'],
    contextWindowSize: 272_000,
    subagentTools: native ? 'codex' : 'spec',
    askUserTool: native ? 'codex' : 'spec',
  });
}

function specTools(): RegisteredTool[] {
  return [
    readFileTool,
    applyPatchTool,
    createWriteFileTool(),
    createShellTool({ defaultTimeoutMs: 10_000, nonZeroExitIsError: false }),
    createGrepTool({ outputModes: false }),
    globTool,
  ];
}
