/**
 * `npm run smoke:live`: the smoke test of the loop specification (9.13), seven steps with each real provider whose key is
 * in the environment. Costs money.
 *
 * Exit codes: 0 every step passed; 1 some step failed; 2 wrong usage, or no key; 130 interrupted.
 */

import { parseArgs } from 'node:util';
import { messageOf } from '@whetstone/errors';
import { formatResults } from './smoke-live/format-results.ts';
import {
  type Endpoint,
  endpointOf,
  type ProviderName,
  providerNames,
  providers,
} from './smoke-live/providers.ts';
import { runSteps } from './smoke-live/run-steps.ts';

const DEFAULT_COMMAND_TIMEOUT_MS = 10_000;

const HELP = `Usage: npm run smoke:live -- [options]

Runs the seven steps of the loop specification's smoke test with each provider for which a key is set,
in temporary folders, with commands on this machine as this user. Costs money.

Options:
  --provider NAME             ${providerNames.join(', ')}; repeat it for several (default: all with a key)
  --model PROVIDER=MODEL      the model of a provider; repeat it for several
  --command-timeout-ms N      default timeout of commands (default ${DEFAULT_COMMAND_TIMEOUT_MS})
  -h, --help                  this text

Environment:
${providerNames.map(describeVariables).join('\n')}

Examples:
  OPENAI_API_KEY=... npm run smoke:live
  npm run smoke:live -- --provider anthropic --model anthropic=claude-sonnet-4-6
  GEMINI_API_KEY=... GEMINI_MODEL=gemini-3-flash-preview npm run smoke:live -- --provider gemini`;

function describeVariables(name: ProviderName): string {
  const { keyVariables, baseUrlVariables, modelVariable, defaultModel } = providers[name];
  return [
    `  ${name.padEnd(10)} key       ${keyVariables.join(' or ')}`,
    `             base URL  ${baseUrlVariables.join(' or ')} (optional)`,
    `             model     ${modelVariable} (default ${defaultModel})`,
  ].join('\n');
}

class UsageError extends Error {}

type Options = { endpoints: Endpoint[]; commandTimeoutMs: number };

function parseOptions(): Options | 'help' {
  const { values } = parse();
  if (values.help) return 'help';
  const chosen = values.provider.map(providerName);
  const models = new Map(values.model.map(parseModel));
  const names = chosen.length > 0 ? [...new Set(chosen)] : providerNames;
  const found = names.map((name) => endpointOf(name, process.env, models.get(name)));
  const endpoints = found.filter((endpoint) => endpoint !== undefined);
  const missing = names.filter((_, index) => found[index] === undefined);
  if (endpoints.length === 0 || (chosen.length > 0 && missing.length > 0))
    throw new UsageError(noKey(missing));
  const commandTimeoutMs = Number(values['command-timeout-ms']);
  if (!Number.isSafeInteger(commandTimeoutMs) || commandTimeoutMs < 1)
    throw new UsageError(
      `--command-timeout-ms: ${values['command-timeout-ms']} is not a number of milliseconds.`,
    );
  return { endpoints, commandTimeoutMs };
}

function parse() {
  try {
    return parseArgs({
      options: {
        provider: { type: 'string', multiple: true, default: [] },
        model: { type: 'string', multiple: true, default: [] },
        'command-timeout-ms': { type: 'string', default: String(DEFAULT_COMMAND_TIMEOUT_MS) },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function parseModel(given: string): [ProviderName, string] {
  const [, name = '', model = ''] = /^([^=]*)=(.+)$/.exec(given) ?? [];
  if (model === '') throw new UsageError(`--model: ${given} is not PROVIDER=MODEL.`);
  return [providerName(name), model];
}

function providerName(given: string): ProviderName {
  const name = providerNames.find((known) => known === given);
  if (name === undefined)
    throw new UsageError(`There is no provider ${given}. There are: ${providerNames.join(', ')}.`);
  return name;
}

function noKey(missing: readonly ProviderName[]): string {
  const variables = missing.map((name) => `  ${name}: ${providers[name].keyVariables.join(' or ')}`);
  return ['No key is set. Set one of these variables:', ...variables].join('\n');
}

async function main(): Promise<number> {
  const options = parseOptions();
  if (options === 'help') {
    console.log(HELP);
    return 0;
  }
  const { endpoints, commandTimeoutMs } = options;
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  const { signal } = interruption;
  const runs = endpoints.map((endpoint) =>
    runSteps(endpoint, {
      commandTimeoutMs,
      signal,
      onStep: ({ name }, { title, failure }) =>
        console.error(`${name}: ${title}: ${failure === undefined ? 'pass' : `FAIL (${failure})`}`),
    }),
  );
  const settled = await Promise.allSettled(runs);
  if (signal.aborted) return 130;
  const rejected = settled.find((run) => run.status === 'rejected');
  if (rejected) throw rejected.reason;
  const results = settled.flatMap((run) => (run.status === 'fulfilled' ? [run.value] : []));
  console.log(formatResults(results));
  return results.some(({ steps }) => steps.some(({ failure }) => failure !== undefined)) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n(npm run smoke:live -- --help)`);
  process.exitCode = 2;
}
