import { describeEnvironment } from './context/environment-context.ts';
import { findProjectDocuments } from './context/project-documents.ts';
import type { ExecutionEnvironment } from './environment/execution-environment.ts';
import type { ProviderProfile } from './profiles/provider-profile.ts';

/** What every request begins with. Built once a session and then frozen, so that prompt caches hold. */
export type Preamble = { systemPrompt: string; environmentContext: string };

export async function buildPreamble(options: {
  profile: ProviderProfile;
  environment: ExecutionEnvironment;
  userInstructions: string | undefined;
  now: number;
  signal: AbortSignal;
}): Promise<Preamble> {
  const { profile, environment, userInstructions, now, signal } = options;
  const [projectDocuments, environmentContext] = await Promise.all([
    findProjectDocuments(environment, profile.projectDocumentNames),
    describeEnvironment({
      environment,
      model: profile.model,
      knowledgeCutoff: profile.knowledgeCutoff,
      now,
      signal,
    }),
  ]);
  const systemPrompt = profile.buildSystemPrompt({ environment, projectDocuments, userInstructions });
  return { systemPrompt, environmentContext };
}
