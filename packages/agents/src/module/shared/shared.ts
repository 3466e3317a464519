import { injectO11yContext } from './o11y-context.ts';
import { prepareWorkspace } from './prepare-workspace.ts';
import { runValidation } from './run-validation.ts';
import { captureLatestJsonl, sessionIdFromClaudeTranscript } from './transcripts.ts';

/** Helpers for adapters of agents in a sandbox (adapter reference, "shared helpers"). */
export const shared = {
  prepareWorkspace,
  captureLatestJsonl,
  runValidation,
  injectO11yContext,
  sessionIdFromClaudeTranscript,
} as const;
