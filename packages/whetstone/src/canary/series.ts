import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { z } from 'zod';
import type { Manifest } from '../record/manifest.ts';
import { isAbsent } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { resultsOfRun } from '../report/sequential.ts';
import { requirePassRates, taskCounts } from '../report/task-values.ts';

const partSchema = z.object({ name: z.string(), fingerprint: z.string() });

const agentNightSchema = z.object({
  agent: z.string(),
  /** As the program said; `null`: unknown. */
  version: z.string().nullable(),
  /** The models that answered; empty: unknown. */
  models: z.array(z.string()),
  /** Cases that were planned. Those without a result are not in `tasks`. */
  planned: z.number().int(),
  /** US dollars of all cases; `null`: that of some case is unknown. */
  cost_usd: z.number().nullable(),
  /** `[passed, trials]` of each task that has a result, by `ID@CONTENT`. */
  tasks: z.record(z.string(), z.tuple([z.number().int(), z.number().int()])),
});

const nightSchema = z.object({
  run_id: z.string(),
  at: z.string(),
  whetstone_version: z.string(),
  trials: z.number().int().positive(),
  agents: z.array(agentNightSchema),
});

/** `canary.json` beside the runs: the nights of one suite, the first of which is the baseline. */
export const seriesSchema = z.object({
  schema_version: z.literal('1'),
  /** What every night runs. */
  variant: partSchema,
  agents: z.array(partSchema),
  /** The commit of the tasks that name none. Absent: each task names its own. */
  commit: z.string().optional(),
  nights: z.array(nightSchema),
});

export type Series = z.infer<typeof seriesSchema>;
export type Night = Series['nights'][number];
export type AgentNight = Night['agents'][number];

export const seriesFile = (outputDir: string): string => join(outputDir, 'canary.json');

/**
 * The series of an output directory; `undefined`: none was started.
 * @throws WhetstoneError `canary-unreadable`. As an empty series it would get a new baseline, which hides a drift.
 */
export async function readSeries(outputDir: string): Promise<Series | undefined> {
  const file = seriesFile(outputDir);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const parsed = seriesSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new WhetstoneError('canary-unreadable', 'The nights of the canary cannot be read.', {
    where: file,
    cause: parsed.error,
  });
}

/** Replaces the file in one step, because a file that is cut off could not be read again. */
export async function writeSeries(outputDir: string, series: Series): Promise<void> {
  const file = seriesFile(outputDir);
  await writeFile(`${file}.new`, `${JSON.stringify(series)}\n`);
  await rename(`${file}.new`, file);
}

type Run = { manifest: Manifest; rows: readonly CaseRow[] };

/** A new series whose baseline is the baseline of a run. @throws WhetstoneError `run-metric` */
export function startSeries(run: Run, commit: string | undefined): Series {
  const { variants, agents, baseline } = run.manifest;
  const variant = variants.find(({ name }) => name === baseline);
  return {
    schema_version: '1',
    variant: { name: baseline, fingerprint: variant?.fingerprint ?? '' },
    agents: agents.map(({ name, fingerprint }) => ({ name, fingerprint })),
    ...present({ commit }),
    nights: [nightOf(run)],
  };
}

/** What a run of the baseline says as a night. @throws WhetstoneError `run-metric` */
export function nightOf({ manifest, rows }: Run): Night {
  requirePassRates(manifest);
  const keys = new Map(
    manifest.tasks.map(({ id, fingerprint, commit }) => [
      id,
      `${id}@${fingerprint.slice(0, 12)}${commit.slice(0, 12)}`,
    ]),
  );
  const cases = resultsOfRun(manifest, rows).filter(({ variant }) => variant === manifest.baseline);
  return {
    run_id: manifest.run_id,
    at: manifest.created_at,
    whetstone_version: manifest.whetstone_version,
    trials: manifest.trials,
    agents: manifest.agents.map(({ name, version }) => {
      const own = cases.filter((one) => one.agent_name === name);
      const costs = own.flatMap(({ row }) => (row ? [row.cost_usd] : []));
      return {
        agent: name,
        version,
        models: [...new Set(own.flatMap(({ row }) => row?.models ?? []))].sort(),
        planned: own.length,
        cost_usd: costs.reduce<number | null>(
          (total, one) => (total === null || one === null ? null : total + one),
          0,
        ),
        tasks: Object.fromEntries(
          [...taskCounts(own)].map(([task, { passed, trials }]) => [
            keys.get(task) ?? task,
            [passed, trials],
          ]),
        ),
      };
    }),
  };
}

/** Refuses a night of another agent or variant than that of the series: their pass rates cannot be compared. */
export function refuseOtherArm(
  series: Series,
  plan: Pick<Manifest, 'baseline'> & { agents: Series['agents']; variants: Series['agents'] },
  where: string,
): void {
  const has = (parts: Series['agents'], { name, fingerprint }: Series['variant']) =>
    parts.some((one) => one.name === name && one.fingerprint === fingerprint);
  const changed = [
    ...(plan.baseline === series.variant.name && has(plan.variants, series.variant)
      ? []
      : [`variant ${series.variant.name}`]),
    ...series.agents.filter((agent) => !has(plan.agents, agent)).map(({ name }) => `agent ${name}`),
  ];
  if (changed.length === 0) return;
  throw new WhetstoneError(
    'canary-changed',
    `This is not what the nights before ran: ${changed.join(', ')} changed, or is gone.`,
    { where, hint: 'Restore the configuration, or start a new series: whetstone canary start --force' },
  );
}
