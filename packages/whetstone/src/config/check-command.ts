import {
  COMMAND_VARIABLES,
  type Command,
  commandParts,
  commandProblems,
  namesVariable,
  type TelemetryConfig,
} from '@whetstone/agents/config';
import type { Spot } from './spot.ts';

/** Reports what is wrong with a command template, including variables that have no value for this agent. */
export function checkCommand(
  command: Command,
  spot: Spot,
  { telemetry, hasGateway }: { telemetry: TelemetryConfig; hasGateway: boolean },
): void {
  const known = COMMAND_VARIABLES.filter((name) => {
    if (name === 'telemetry_file') return telemetry.collector === 'json-file';
    return hasGateway || !name.startsWith('gateway_');
  });
  const needs: Record<string, string> = {
    '{telemetry_file}': 'only available with telemetry: {collector: json-file}',
    '{gateway_url}': 'only available with a gateway',
    '{gateway_key}': 'only available with a gateway',
  };
  const partAt = (index: number) => (command.kind === 'argv' ? spot.at(index) : spot);
  for (const { index, text, problem } of commandProblems(command, known)) {
    const marked = text.slice(problem.offset, problem.offset + problem.length);
    partAt(index).error(problem.message, {
      hint: needs[marked] ?? problem.hint,
      mark: marked === '' ? 'value' : { text: marked },
    });
  }
  for (const [index, text] of commandParts(command).entries()) {
    if (!namesVariable(text, 'variant')) continue;
    const message = 'the command contains the variant, so the agent can see which variant it runs with';
    partAt(index).warning(message, { mark: { text: '{variant}' } });
  }
}
