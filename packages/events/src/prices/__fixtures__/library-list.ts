import { type ConditionalPrice, type MatchLogic, type ModelInfo, type Provider, waitForUpdate } from '@pydantic/genai-prices';
import type { ListedModel, ModelPrices, PricesOfTime } from '../listed-model.ts';

/** The list that the library brings with it. */
export async function libraryList(): Promise<Provider[]> {
  return (await waitForUpdate()) ?? [];
}

/** The files of our list, by name: what the library's list says about the tokens that we count. */
export function listFiles(list: readonly Provider[]): Map<string, string> {
  const providers = list.map(
    ({ id, api_pattern, provider_match, model_match, fallback_model_providers }) => ({
      id,
      api_pattern,
      provider_match: provider_match && inLowerCase(provider_match),
      model_match: model_match && inLowerCase(model_match),
      fallback_model_providers,
    }),
  );
  return new Map([
    ['providers.json', lines(providers)],
    ...list.map(({ id, models }) => [`${id}.json`, lines(models.map(listed))] as const),
  ]);
}

/** A line per entry, so that a change of the list can be read. */
function lines(entries: readonly object[]): string {
  return `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}

function listed({ id, match, context_window, prices }: ModelInfo): object {
  const all = Array.isArray(prices) ? prices.map(ofTime) : [{ prices: ofTokens(prices) }];
  return { id, match: inLowerCase(match), context_window, prices: all } satisfies { [Key in keyof ListedModel]: unknown };
}

/** The library compares without regard to case; this list is ready for that. */
function inLowerCase(match: MatchLogic): object {
  if ('or' in match) return { or: match.or.map(inLowerCase) };
  if ('and' in match) return { and: match.and.map(inLowerCase) };
  if ('regex' in match) return match;
  return Object.fromEntries(Object.entries(match).map(([how, text]) => [how, text.toLowerCase()]));
}

function ofTime({ constraint, prices }: ConditionalPrice): PricesOfTime {
  const kept = ofTokens(prices);
  if (constraint === undefined) return { prices: kept };
  if (constraint.type === 'start_date') return { from: constraint.start_date, prices: kept };
  return { between: [secondOfDay(constraint.start_time), secondOfDay(constraint.end_time)], prices: kept };
}

function secondOfDay(time: string): number {
  const seconds = Date.parse(`1970-01-02T${time}`) / 1_000 - 86_400;
  if (Number.isNaN(seconds)) throw new Error(`not a time of the day: ${time}`);
  return (seconds + 86_400) % 86_400;
}

const OF_TOKENS = [
  'input_mtok',
  'cache_read_mtok',
  'cache_write_mtok',
  'cache_write_1h_mtok',
  'output_mtok',
  'requests_kcount',
] as const satisfies (keyof ModelPrices)[];

function ofTokens(prices: ModelInfo['prices'] & object): ModelPrices {
  const given = prices as Readonly<Record<string, unknown>>;
  return Object.fromEntries(OF_TOKENS.flatMap((key) => (key in given ? [[key, given[key]]] : [])));
}
