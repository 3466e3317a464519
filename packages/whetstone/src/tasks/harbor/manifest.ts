import { parse } from 'smol-toml';
import { z } from 'zod';

const seconds = z.number().positive().optional();
const env = z.record(z.string(), z.string()).default({});
const user = z.union([z.string(), z.number()]).optional();

/** The keys of a `task.toml` that matter here; others are kept out. */
const manifestSchema = z.object({
  task: z.object({ name: z.string().optional(), description: z.string().optional() }).default({}),
  metadata: z.record(z.string(), z.unknown()).default({}),
  agent: z.object({ timeout_sec: seconds, user, network_mode: z.string().optional() }).default({}),
  verifier: z
    .looseObject({ timeout_sec: seconds, user, env, environment_mode: z.string().optional() })
    .default({ env: {} }),
  solution: z.object({ env }).default({ env: {} }),
  environment: z
    .looseObject({
      os: z.string().optional(),
      workdir: z.string().optional(),
      gpus: z.number().optional(),
      allow_internet: z.boolean().optional(),
      network_mode: z.string().optional(),
      env,
    })
    .default({ env: {} }),
  steps: z.array(z.unknown()).default([]),
});

export type Manifest = z.infer<typeof manifestSchema>;

/** Reads a `task.toml`. @throws SyntaxError or ZodError */
export const readManifest = (text: string): Manifest => manifestSchema.parse(parse(text));

/** What of a task only a container can do. */
export function needsContainer({
  agent,
  verifier,
  environment,
  steps,
  solution,
}: Manifest): string | undefined {
  const has = (section: Readonly<Record<string, unknown>>, key: string) => {
    const value = section[key];
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  };
  const isRoot = (name: string | number | undefined) => name === undefined || name === 'root' || name === 0;
  const variables = [verifier.env, solution.env, environment.env].flatMap((one) => Object.values(one));
  const reasons: [boolean, string][] = [
    [steps.length > 0, 'it has several steps'],
    [environment.os !== undefined && environment.os !== 'linux', `it needs ${environment.os}`],
    [(environment.gpus ?? 0) > 0, 'it needs a GPU'],
    [has(environment, 'healthcheck'), 'its environment has a health check'],
    [has(environment, 'mcp_servers'), 'its environment has MCP servers'],
    [has(environment, 'skills_dir'), 'its environment has skills'],
    [!isRoot(agent.user) || !isRoot(verifier.user), 'it names a user'],
    [
      verifier.environment_mode === 'separate' || has(verifier, 'environment'),
      'its verifier has an environment of its own',
    ],
    [has(verifier, 'collect'), 'its verifier collects files'],
    [variables.some((value) => value.includes('${')), 'it takes variables from the machine'],
  ];
  return reasons.find(([applies]) => applies)?.[1];
}
