import type { Command, TelemetryConfig } from '@whetstone/agents/config';
import { COMMAND_VARIABLES, commandParts, commandProblems, namesVariable } from '@whetstone/agents/config';
import type { Reporter } from './reporter.ts';
import type { YamlPath } from './yaml-source.ts';

/** Reports what is wrong with the command template at `path`, including variables that have no value for this agent. */
export function checkCommand(
  command: Command,
  path: YamlPath,
  { telemetry, hasGateway, report }: { telemetry: TelemetryConfig; hasGateway: boolean; report: Reporter },
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
  const at = (index: number) => [...path, ...(command.kind === 'argv' ? [index] : [])];
  for (const { index, text, problem } of commandProblems(command, known)) {
    const marked = text.slice(problem.offset, problem.offset + problem.length);
    report.error(at(index), problem.message, {
      hint: needs[marked] ?? problem.hint,
      mark: marked === '' ? 'value' : { text: marked },
    });
  }
  for (const [index, text] of commandParts(command).entries()) {
    if (!namesVariable(text, 'variant')) continue;
    report.warning(
      at(index),
      'the command contains the variant, so the agent can see which variant it runs with',
      {
        mark: { text: '{variant}' },
      },
    );
  }
}
