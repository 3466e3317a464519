import { z } from 'zod';

const names = z.array(z.string().max(500)).max(500).default([]);

/** Which part of the configuration runs, as the options of `whetstone run` have it. */
export const selectionSchema = z.strictObject({
  agents: names,
  variants: names,
  tasks: names,
  trials: z.number().int().min(1).max(1000).default(1),
  jobs: z.number().int().min(1).max(256).default(1),
  max_tasks: z.number().int().min(1).nullable().default(null),
  seed: z.string().max(200).nullable().default(null),
  sequential: z.boolean().default(false),
  /** The id of a run: only what is missing of it. Then everything else comes from that run. */
  resume: z.string().max(500).nullable().default(null),
});

export type Selection = z.infer<typeof selectionSchema>;

/** The arguments of `whetstone run`. A value stands behind `=`, so that no name can be an option. */
export function runArguments(selection: Selection, config: string): string[] {
  const { agents, variants, tasks, trials, jobs, max_tasks: most, seed, sequential, resume } = selection;
  const common = [`--config=${config}`, `--jobs=${jobs}`];
  if (resume !== null) return [...common, `--resume=${resume}`];
  return [
    ...common,
    ...agents.map((name) => `--agent=${name}`),
    ...variants.map((name) => `--variant=${name}`),
    ...tasks.map((id) => `--task-id=${id}`),
    `--trials=${trials}`,
    ...(most === null ? [] : [`--max-tasks=${most}`]),
    ...(seed === null ? [] : [`--seed=${seed}`]),
    ...(sequential ? ['--sequential'] : []),
  ];
}
