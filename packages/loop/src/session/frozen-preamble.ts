import { present } from '@whetstone/events/present';
import { describeEnvironment } from '../context/environment-context.ts';
import { findProjectDocuments, type ProjectDocument } from '../context/project-documents.ts';
import type { Preamble } from '../conversation/preamble.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { ProviderProfile } from '../profiles/provider-profile.ts';

type Surroundings = {
  profile: ProviderProfile;
  environment: ExecutionEnvironment;
  userInstructions: string | undefined;
  /** Milliseconds since the epoch. */
  now: number;
};

type Sent = { profile: ProviderProfile; preamble: Preamble };
type BuiltPreamble = Preamble & { projectDocuments: readonly ProjectDocument[] };

async function buildPreamble(surroundings: Surroundings, signal: AbortSignal): Promise<BuiltPreamble> {
  const { profile, environment, userInstructions, now } = surroundings;
  const [projectDocuments, environmentContext] = await Promise.all([
    findProjectDocuments(environment, profile.projectDocumentNames),
    describeEnvironment(environment, profile, now, signal),
  ]);
  const parts = { environment, projectDocuments, userInstructions };
  const systemPrompt = profile.buildSystemPrompt(parts);
  const systemBlocks = profile.systemBlocks?.(parts);
  return { systemPrompt, ...present({ systemBlocks }), environmentContext, projectDocuments };
}

/**
 * The preamble of a session. It is built before the first request and then frozen, because prompt caches hold only
 * where a request begins like the one before. Another profile gets a preamble of its own; only the last profile's is
 * kept.
 */
export class FrozenPreamble {
  readonly #surroundings: () => Surroundings;
  #kept: { profile: ProviderProfile; built: Promise<Preamble> } | undefined;
  #sent: Sent | undefined;
  /** What the model knows since the last note about changes; `undefined` while that is the preamble itself. */
  #told: Preamble | undefined;

  /** `sent`: what the last request of a restored session began with. */
  constructor(surroundings: () => Surroundings, sent: Sent | undefined) {
    this.#surroundings = surroundings;
    this.#sent = sent;
    this.#kept = sent && { profile: sent.profile, built: Promise.resolve(sent.preamble) };
  }

  /** What the last request began with; `undefined` where that request was for another profile. */
  sentFor(profile: ProviderProfile): Preamble | undefined {
    return this.#sent?.profile === profile ? this.#sent.preamble : undefined;
  }

  /** What the next request begins with. Rejects where it cannot be built; the next call tries again. */
  async get(signal: AbortSignal): Promise<Preamble> {
    const surroundings = this.#surroundings();
    const { profile } = surroundings;
    const preamble = await this.#frozen(surroundings, signal);
    if (!signal.aborted) this.#sent = { profile, preamble };
    return preamble;
  }

  /** A note about what has changed since the model last knew. `undefined`: nothing, or the model has no preamble yet. */
  async changes(signal: AbortSignal): Promise<string | undefined> {
    const surroundings = this.#surroundings();
    const told = this.#told ?? (await this.#kept?.built.catch(() => undefined));
    if (told === undefined || this.#kept?.profile !== surroundings.profile) return undefined;
    const { projectDocuments, ...fresh } = await buildPreamble(surroundings, signal);
    this.#told = fresh;
    const notes: string[] = [];
    if (fresh.environmentContext !== told.environmentContext)
      notes.push(`The environment has changed. It is now:\n${fresh.environmentContext}`);
    const documents = projectDocuments.map(({ path, text }) => `${path}:\n${text}`);
    if (fresh.systemPrompt !== told.systemPrompt && documents.length === 0)
      notes.push('The project has no instructions any more.');
    else if (fresh.systemPrompt !== told.systemPrompt)
      notes.push(`The instructions of the project have changed. They are now:\n\n${documents.join('\n\n')}`);
    return notes.length === 0 ? undefined : notes.join('\n\n').toWellFormed();
  }

  #frozen(surroundings: Surroundings, signal: AbortSignal): Promise<Preamble> {
    const { profile } = surroundings;
    if (this.#kept?.profile === profile) return this.#kept.built;
    const built = buildPreamble(surroundings, signal).then(({ projectDocuments, ...preamble }) => preamble);
    this.#told = undefined;
    this.#kept = { profile, built };
    // A preamble that failed, or was interrupted half way, must not be frozen.
    const forget = () => {
      if (this.#kept?.built === built) this.#kept = undefined;
    };
    built.then(() => signal.aborted && forget(), forget);
    return built;
  }
}
