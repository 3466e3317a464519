import { present } from '@whetstone/events/present';
import { describeEnvironment } from '../context/environment-context.ts';
import { findProjectDocuments, type ProjectDocument } from '../context/project-documents.ts';
import type { Preamble } from '../conversation/preamble.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';

type PreambleOptions = {
  profile: ProviderProfile;
  environment: ExecutionEnvironment;
  userInstructions: string | undefined;
  now: number;
  signal: AbortSignal;
};

type BuiltPreamble = Preamble & { projectDocuments: readonly ProjectDocument[] };

async function buildPreamble(options: PreambleOptions): Promise<BuiltPreamble> {
  const { profile, environment, userInstructions, now, signal } = options;
  const { model, knowledgeCutoff } = profile;
  const [projectDocuments, environmentContext] = await Promise.all([
    findProjectDocuments(environment, profile.projectDocumentNames),
    describeEnvironment({ environment, model, knowledgeCutoff, now, signal }),
  ]);
  const parts = { environment, projectDocuments, userInstructions };
  const systemPrompt = profile.buildSystemPrompt(parts);
  const systemBlocks = profile.systemBlocks?.(parts);
  return { systemPrompt, ...present({ systemBlocks }), environmentContext, projectDocuments };
}

/** The preamble of a session: built at the first need, frozen for each profile; going back and forth keeps the last. */
export class FrozenPreamble {
  /** What the model was told last, where that is no longer the preamble. */
  #told: Preamble | undefined;
  #kept: { profile: ProviderProfile; built: Promise<Preamble> } | undefined;

  constructor(kept?: { profile: ProviderProfile; preamble: Preamble }) {
    if (kept) this.#kept = { profile: kept.profile, built: Promise.resolve(kept.preamble) };
  }

  /** `undefined` where none was built, or it could not be. */
  async current(): Promise<Preamble | undefined> {
    return await this.#kept?.built.catch(() => undefined);
  }

  for(options: PreambleOptions): Promise<Preamble> {
    const { profile, signal } = options;
    if (this.#kept?.profile !== profile) {
      const built = buildPreamble(options).then(({ projectDocuments, ...preamble }) => preamble);
      this.#told = undefined;
      this.#kept = { profile, built };
      // What failed or was interrupted half way must not be frozen.
      const forget = () => {
        if (this.#kept?.built === built) this.#kept = undefined;
      };
      built.then(() => signal.aborted && forget(), forget);
    }
    return this.#kept.built;
  }

  /** A note for the model on what is different from what it was told; `undefined` where nothing is, or nothing was told. */
  async changes(options: PreambleOptions): Promise<string | undefined> {
    const told = this.#told ?? (await this.current());
    if (told === undefined || this.#kept?.profile !== options.profile) return undefined;
    const { projectDocuments, ...fresh } = await buildPreamble(options);
    this.#told = fresh;
    const notes: string[] = [];
    if (fresh.environmentContext !== told.environmentContext) {
      notes.push(`The environment has changed. It is now:\n${fresh.environmentContext}`);
    }
    if (fresh.systemPrompt !== told.systemPrompt) {
      const documents = projectDocuments.map(({ path, text }) => `${path}:\n${text}`);
      notes.push(
        documents.length === 0
          ? 'The project has no instructions any more.'
          : `The instructions of the project have changed. They are now:\n\n${documents.join('\n\n')}`,
      );
    }
    return notes.length === 0 ? undefined : notes.join('\n\n').toWellFormed();
  }
}
