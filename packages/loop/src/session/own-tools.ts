import type { ProviderProfile } from '../profiles/provider-profile.ts';
import { createSubagentTools } from '../subagents/subagent-tools.ts';
import type { Subagents } from '../subagents/subagents.ts';
import { type AskUser, createAskUserTool } from '../tools/ask-user-tool.ts';
import { type SessionTools, sessionTools } from '../tools/session-tools.ts';
import type { SessionOptions } from './session-options.ts';

/** The profile's tools and the session's own: for questions to the user, and for subagents where there may be any. */
export function withOwnTools(
  profile: ProviderProfile,
  options: SessionOptions,
  { subagents, ask }: { subagents: Subagents | undefined; ask: AskUser },
): SessionTools {
  const models = options.subagents?.resolveModel !== undefined;
  return sessionTools(profile, [
    ...(subagents ? createSubagentTools(profile.subagentTools ?? 'spec', subagents, { models }) : []),
    ...(options.askUser ? [createAskUserTool(profile.askUserTool ?? 'spec', ask)] : []),
  ]);
}
