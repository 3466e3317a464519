import { z } from 'zod';
import { command, safePath, variableName } from '../kit/option-values.ts';

/** What a configuration can say about an agent that runs through a command. */
export const commandOptions = z.object({
  command: command.nullish(),
  resume_command: command.nullish(),
  telemetry: z
    .object({
      collector: z.enum(['none', 'json-file', 'codex-jsonl']).nullish(),
      file: safePath.nullish(),
      environment_variable: variableName.nullish(),
    })
    .nullish(),
});
