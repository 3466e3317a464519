import type { ProviderProfile } from '../profiles/provider-profile.ts';
import { createSubagentTools } from '../subagents/subagent-tools.ts';
import type { Subagents } from '../subagents/subagents.ts';
import { type AskUser, createAskUserTool } from '../tools/ask-user-tool.ts';
import { type SessionTools, sessionTools } from '../tools/session-tools.ts';
import type { SessionOptions } from './session-options.ts';

/**
 * The profile's tools, with those that the session itself brings: for subagents, and for questions to the user.
 *
 * @param subagents Absent where the session may not have any.
 */
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
