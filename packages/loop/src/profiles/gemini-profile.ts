import { flag } from '../control/check-options.ts';
import { createEditFileTool } from '../tools/edit-file-tool.ts';
import { globTool } from '../tools/glob-tool.ts';
import { createGrepTool } from '../tools/grep-tool.ts';
import { listDirectoryTool } from '../tools/list-directory-tool.ts';
import { INACTIVITY_TIMEOUT_MS } from '../tools/native/gemini-cli-shell.ts';
import { createGeminiCliTools } from '../tools/native/gemini-cli-tools.ts';
import { readFileTool } from '../tools/read-file-tool.ts';
import { readManyFilesTool } from '../tools/read-many-files-tool.ts';
import { createShellTool } from '../tools/shell-tool.ts';
import type { RegisteredTool } from '../tools/tool.ts';
import { createWebFetchTool } from '../tools/web-fetch-tool.ts';
import { createWriteFileTool } from '../tools/write-file-tool.ts';
import { createProfile } from './create-profile.ts';
import type { ProfileOptions, ProviderProfile } from './provider-profile.ts';
import { codingPractice, finalAnswer } from './system-prompt.ts';

const SPEC_NAMES = {
  read: 'read_file',
  readMany: 'read_many_files',
  edit: 'edit_file',
  all: 'replace_all',
  write: 'write_file',
  list: 'list_dir',
  grep: 'grep',
};
const NATIVE_NAMES: typeof SPEC_NAMES = {
  ...SPEC_NAMES,
  edit: 'replace',
  all: 'allow_multiple',
  list: 'list_directory',
  grep: 'grep_search',
};

const baseText = ({ read, readMany, edit, all, write, list, grep }: typeof SPEC_NAMES) =>
  `You are a coding agent. You work in the user's repository through tools: you read files, edit them and run commands. The user reads your final answer, not your tool calls.

# Choosing tools

Get an overview with ${list} and glob, find code with ${grep}, and read with ${read}; when you know which files you need, read them together with ${readMany}. Calls that do not depend on each other belong in one response, so that they run together. Do not use the shell for what one of these tools does.

# Editing

Change existing files with ${edit}. It replaces \`old_string\` by \`new_string\`:

- Read the file first. \`old_string\` has to stand in it exactly as you give it, with its indentation; take in a few lines around the change so that it occurs only once, or set \`${all}\` to change every occurrence.
- If an edit is refused, nothing was written: read the place again and send a corrected edit.

Use ${write} for new files and complete rewrites. Do not edit files with shell commands.

# GEMINI.md

Projects keep their instructions for you in GEMINI.md and AGENTS.md, from the root of the repository down to the working directory. What they say about commands, style and checks counts as if the user had said it; where two differ, the deeper one counts for its folder. What the user says in the conversation comes before both.

${codingPractice}

${finalAnswer}`;

export type GeminiProfileOptions = ProfileOptions & {
  /** Offer the provider's own search (grounding). Only Gemini 3 and later takes it beside other tools. Default false. */
  webSearch?: boolean;
  /** Offer `web_fetch`, which reads public web pages from the host, past any sandbox. Default false. */
  webFetch?: boolean;
};

/**
 * The profile for Gemini models (loop spec 3.6). Safety settings and the like go into `providerOptions`, in the spelling of
 * the wire's package: `{ safetySettings: [{ category, threshold }] }`. Commands have no timeout of their own; one that
 * prints nothing for five minutes is ended.
 */
export function createGeminiProfile(options: GeminiProfileOptions): ProviderProfile {
  const native = options.toolSet === 'native';
  return createProfile(options, {
    id: 'gemini',
    options: { webSearch: flag, webFetch: flag },
    tools: [
      ...(native ? createGeminiCliTools() : specTools()),
      ...(options.webFetch ? [createWebFetchTool(native ? 'prompt' : 'url')] : []),
      ...(options.webSearch ? [webSearchTool(native ? 'google_web_search' : 'web_search')] : []),
    ],
    baseText: baseText(native ? NATIVE_NAMES : SPEC_NAMES),
    // The effort travels as the portable call option, which the wire's package maps to a thinking level or budget.
    requestOptions: {
      provider: 'google',
      of: () => (THINKS.test(options.model) ? { thinkingConfig: { includeThoughts: true } } : {}),
    },
    projectDocumentNames: ['AGENTS.md', 'GEMINI.md'],
    contextWindowSize: 1_048_576,
    maxOutputTokens: 65_536,
    askUserTool: native ? 'gemini-cli' : 'spec',
  });
}

/** Earlier models refuse a request that mentions thoughts. */
const THINKS = /gemini-(?:2\.5|[3-9]|flash-latest|pro-latest)/;

function specTools(): RegisteredTool[] {
  return [
    readFileTool,
    readManyFilesTool,
    createWriteFileTool(),
    createEditFileTool(),
    createShellTool({ inactivityTimeoutMs: INACTIVITY_TIMEOUT_MS, nonZeroExitIsError: false }),
    createGrepTool({ outputModes: false }),
    globTool,
    listDirectoryTool,
  ];
}

function webSearchTool(name: string): RegisteredTool {
  const description = 'Searches the web.';
  return {
    definition: { type: 'provider', name, description, id: 'google.google_search', args: {} },
    executor: () => {
      throw new Error(`${name} runs at the provider`);
    },
  };
}
