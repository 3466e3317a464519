/**
 * Under which names and parameters the model knows the tools of a profile:
 * - `spec`: those of the loop specification. The default.
 * - `native`: those of the family's released agent, with which its models were trained.
 */
export type ToolSet = 'spec' | 'native';

/** Whose names and parameters the tools for subagents have. */
export type SubagentToolSet = 'spec' | 'codex' | 'claude-code';

/** Whose name and parameters the tool has by which the model asks the user. */
export type AskUserToolSet = 'spec' | 'codex' | 'claude-code' | 'gemini-cli';
