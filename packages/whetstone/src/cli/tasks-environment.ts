import type { EnvironmentConfig } from '../config/config.ts';

/** An environment that commands of the command line prepare; `timeoutSeconds`: the limit of each. */
export const environmentOf = (
  commands: readonly string[],
  timeoutSeconds: number,
): EnvironmentConfig | undefined =>
  commands.length === 0
    ? undefined
    : {
        prepare: commands.map((script) => ({ kind: 'shell', script })),
        timeoutSeconds,
        services: [],
      };
