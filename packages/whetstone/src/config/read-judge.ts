import { present } from '@whetstone/events/present';
import { checkMapping, isMapping } from './check-shape.ts';
import type { StatedJudge } from './config.ts';
import { existingPath } from './existing-path.ts';
import { readBudget } from './read-gateway.ts';
import { judgeSchema } from './schema.ts';
import type { Spot } from './spot.ts';

/** Reads `judge:`. What is code in it, a model or an agent, is taken as it is. `file`: the file that contains it. */
export function readJudge(raw: unknown, spot: Spot, file: string): StatedJudge | undefined {
  const { model: given, agent: judge, ...rest } = isMapping(raw) ? raw : {};
  const isCode = typeof given === 'function';
  if (isMapping(given) && 'doGenerate' in given) {
    spot.at('model').error('a finished model would call its provider past the gateway', {
      hint: 'write a function that makes it: ({ baseUrl, key }) => createAnthropic({ baseURL: baseUrl, apiKey: key })(…)',
    });
    return undefined;
  }
  const data = { ...rest, ...(!isCode && given !== undefined && { model: given }) };
  const fields = checkMapping(judgeSchema, isMapping(raw) ? data : raw, spot);
  if (!fields) return undefined;
  const model = isCode ? (given as Exclude<StatedJudge['model'], string>) : (fields.model ?? undefined);
  const agent = isMapping(judge) ? judge : undefined;
  if (given == null && !agent) {
    spot.error('needs a `model` or an `agent`', { hint: 'such as `model: anthropic/claude-opus-4-8`' });
    return undefined;
  }
  const script = fields.script == null ? undefined : existingPath(fields.script, spot.at('script'), 'file');
  return {
    ...{ file, votes: fields.votes ?? 1, sameAsAgent: fields.same_as_agent ?? false },
    ...present({ model, agent, script, budget: readBudget(fields.budget) }),
  };
}
