import type { ListedModel, ListedProvider, Match } from './listed-model.ts';

type Wanted = { name: string } | { apiUrl: string; orElse?: string };

/** The provider by its name or address, and the model's name there. `model` is in lower case. */
export function findProvider(
  all: readonly ListedProvider[],
  wanted: Wanted,
  model: string,
): { provider: ListedProvider; model: string } | undefined {
  const found = 'name' in wanted ? byName(all, wanted.name) : byAddress(all, wanted);
  if (found) return { provider: found, model };
  return 'name' in wanted && wanted.name.toLowerCase() === 'litellm' ? behindLiteLlm(all, model) : undefined;
}

function byName(all: readonly ListedProvider[], name: string): ListedProvider | undefined {
  const id = name.toLowerCase().trim();
  return all.find((entry) => entry.id === id) ?? all.find((entry) => matches(entry.provider_match, id));
}

function byAddress(
  all: readonly ListedProvider[],
  { apiUrl, orElse }: { apiUrl: string; orElse?: string },
): ListedProvider | undefined {
  const listed = all.find(({ api_pattern: pattern }) => new RegExp(`^(?:${pattern})`).test(apiUrl));
  return listed ?? (orElse === undefined ? undefined : byName(all, orElse));
}

/** LiteLLM names the provider before the model, or leaves it to the model's name. */
function behindLiteLlm(all: readonly ListedProvider[], model: string) {
  const [, name, rest] = /^([^/]+)\/(.+)$/s.exec(model) ?? [];
  const named = name && byName(all, name);
  if (named && rest) return { provider: named, model: rest };
  const provider = all.find((entry) => matches(entry.model_match, model));
  return provider && { provider, model };
}

/** The model of a provider, or of one whose models it serves too. Dates are also read without their hyphens. */
export function findModel(
  provider: ListedProvider,
  name: string,
  modelsOf: (provider: string) => readonly ListedModel[],
): ListedModel | undefined {
  const among = (id: string, asked: string) => modelsOf(id).find(({ match }) => matches(match, asked));
  const find = (asked: string) => {
    for (const id of [provider.id, ...(provider.fallback_model_providers ?? [])]) {
      const found = among(id, asked);
      if (found) return found;
    }
    return undefined;
  };
  const hyphenated = name.replaceAll(COMPACT_DATE, '-$1-$2-$3');
  return find(name) ?? (hyphenated === name ? undefined : find(hyphenated));
}

const COMPACT_DATE = /-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g;

function matches(match: Match | undefined, name: string): boolean {
  if (match === undefined) return false;
  if ('or' in match) return match.or.some((each) => matches(each, name));
  if ('and' in match) return match.and.every((each) => matches(each, name));
  if ('regex' in match) return new RegExp(match.regex).test(name);
  if ('equals' in match) return name === match.equals;
  if ('starts_with' in match) return name.startsWith(match.starts_with);
  if ('ends_with' in match) return name.endsWith(match.ends_with);
  return name.includes(match.contains);
}
