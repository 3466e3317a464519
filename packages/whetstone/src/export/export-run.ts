import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Loss, StreamEvent } from '@whetstone/events';
import { AtifError, writeAtif } from '@whetstone/events/atif';
import { type InspectSampleSource, writeInspectLog } from '@whetstone/events/inspect';
import { type OtlpTraces, toGenAiSpans } from '@whetstone/events/open-telemetry';
import { present } from '@whetstone/events/present';
import { caseLayout, runLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { makeOutputFolder, unwritable } from '../record/unwritable.ts';
import { readableEvents, textOf } from '../run/stored-events.ts';
import type { ReportedRun } from '../run/write-report.ts';

export type ExportFormat = 'atif' | 'inspect' | 'otlp';

/** What was written, and what the format has no place for. */
export type Exported = { files: string[]; cases: number; without_events: number; lost: Loss[] };

/**
 * Writes the cases of a run in another format: one file per case (ATIF, OTLP), or one log per agent and variant (Inspect). What
 * an agent said is in the files; secrets are masked in it, as everywhere in a run directory.
 * @throws WhetstoneError `output-unwritable`
 */
export async function exportRun(run: ReportedRun, format: ExportFormat, folder: string): Promise<Exported> {
  const tally: Exported = { files: [], cases: 0, without_events: 0, lost: [] };
  await makeOutputFolder(folder, '--out');
  const write = async (name: string, value: unknown) => {
    const file = join(folder, fileName(name));
    await writeFile(file, `${JSON.stringify(value, null, 2)}\n`).catch((cause: unknown) => {
      throw unwritable('The file', file, cause, HINT);
    });
    tally.files.push(file);
  };
  const lose = (lost: readonly Loss[]) => addLosses(tally.lost, lost);
  const eventsOf = (row: CaseRow) => {
    const { events, unreadable } = readableEvents(caseLayout(runLayout(run.directory).case(row.case_id)));
    if (unreadable > 0) lose([{ what: 'event', count: unreadable, why: 'its line cannot be read' }]);
    return events;
  };
  if (format === 'inspect') {
    const arms = Map.groupBy(run.ordered, (row) => `${row.agent_name}__${row.variant}`);
    for (const [arm, rows] of arms) {
      const { log, lost } = inspectLog(run, rows, eventsOf);
      lose(lost);
      tally.cases += rows.length;
      await write(`${run.manifest.run_id}_${arm}.json`, log);
    }
    return tally;
  }
  for (const row of run.ordered) {
    const events = eventsOf(row);
    const written = format === 'atif' ? atifOf(run, row, events) : otlpOf(run, row, events);
    if (!written) {
      tally.without_events += 1;
      continue;
    }
    lose(written.lost);
    tally.cases += 1;
    await write(`${row.case_id}.${format}.json`, written.value);
  }
  return tally;
}

/** Itself where it can be a file of the folder on every system. Names of arms are texts, and anybody may have written a run. */
function fileName(name: string): string {
  const plain = name.replaceAll(/[^\w.-]+/g, '-').slice(-150);
  if (plain === name) return name;
  return `${createHash('sha256').update(name).digest('hex').slice(0, 8)}-${plain}`;
}

const HINT = 'Give --out a folder that you may write to.';

function addLosses(all: Loss[], more: readonly Loss[]): void {
  for (const loss of more) {
    const known = all.find(({ what, why }) => what === loss.what && why === loss.why);
    if (known) known.count += loss.count;
    else all.push({ ...loss });
  }
}

const versionOf = ({ manifest }: ReportedRun, row: CaseRow): string =>
  manifest.agents.find(({ name }) => name === row.agent_name)?.version ?? 'unknown';

function atifOf(run: ReportedRun, row: CaseRow, events: readonly StreamEvent[]) {
  try {
    const { trajectory, lost } = writeAtif(events, {
      ...{ agentName: row.agent_name, agentVersion: versionOf(run, row), trajectoryId: row.case_id },
      ...present({ modelName: row.models[0] }),
      notes: [
        `${row.task_id}, ${row.variant}, trial ${row.trial_index}: ${row.outcome}`,
        ...(row.reproducibility ? [`reproducibility: ${row.reproducibility}`] : []),
      ].join(', '),
    });
    return { value: trajectory, lost };
  } catch (error) {
    // The format has no empty trajectory.
    if (error instanceof AtifError) return undefined;
    throw error;
  }
}

function otlpOf(run: ReportedRun, row: CaseRow, events: readonly StreamEvent[]) {
  if (events.length === 0) return undefined;
  const { value, lost } = spansOf(run, row, events, false);
  return { value, lost };
}

/** The spans of a case. The same case has the same ids each time, so that a backend can tell that it has them. */
export function spansOf(
  run: ReportedRun,
  row: CaseRow,
  events: readonly StreamEvent[],
  captureContent: boolean,
): { value: OtlpTraces; lost: Loss[] } {
  const { spans, lost } = toGenAiSpans(events, {
    ...{ agentName: row.agent_name, agentVersion: versionOf(run, row), serviceName: 'whetstone' },
    ...{ seed: `${run.manifest.run_id} ${row.case_id}`, captureContent },
    ...present({ modelName: row.models[0], startedAt: row.started_at ?? undefined }),
  });
  const about: Record<string, string> = {
    'whetstone.run.id': row.run_id,
    'whetstone.case.id': row.case_id,
    'whetstone.task.id': row.task_id,
    'whetstone.variant': row.variant,
    'whetstone.trial': String(row.trial_index),
    'whetstone.outcome': row.outcome,
    ...present({ 'whetstone.reproducibility': row.reproducibility }),
  };
  for (const { resource } of spans.resourceSpans) {
    for (const [key, stringValue] of Object.entries(about))
      resource.attributes.push({ key, value: { stringValue } });
  }
  return { value: spans, lost };
}

function inspectLog(
  run: ReportedRun,
  rows: readonly CaseRow[],
  eventsOf: (row: CaseRow) => readonly StreamEvent[],
) {
  const [first] = rows;
  const model = [...new Set(rows.flatMap(({ models }) => models))].join(', ') || 'unknown';
  return writeInspectLog(
    rows.map((row) => sampleOf(run, row, eventsOf(row))),
    {
      task: `${first?.agent_name}/${first?.variant}`,
      runId: run.manifest.run_id,
      created: run.manifest.created_at,
      scorer: 'whetstone',
      epochs: run.manifest.trials,
      model,
      metadata: { agent: first?.agent_name ?? '', variant: first?.variant ?? '' },
    },
  );
}

function sampleOf(
  { directory }: ReportedRun,
  row: CaseRow,
  events: readonly StreamEvent[],
): InspectSampleSource {
  const layout = caseLayout(runLayout(directory).case(row.case_id));
  const hasResult = row.outcome === 'passed' || row.outcome === 'failed';
  const {
    input_tokens: input,
    output_tokens: output,
    models: [model],
  } = row;
  const known = input !== null && output !== null && model !== undefined;
  return {
    ...{ id: row.task_id, epoch: row.trial_index, input: textOf(layout.prompt), events },
    ...present({ startedAt: row.started_at ?? undefined, totalTime: row.duration_seconds ?? undefined }),
    ...(hasResult
      ? { score: { passed: row.outcome === 'passed', explanation: row.evidence ?? '' } }
      : { error: row.evidence ?? row.outcome }),
    ...(known && {
      usage: {
        model,
        usage: {
          ...{ inputTokens: input, outputTokens: output },
          ...present({
            cacheReadTokens: row.cache_read_tokens ?? undefined,
            cacheWriteTokens: row.cache_write_tokens ?? undefined,
            reasoningTokens: row.reasoning_tokens ?? undefined,
          }),
        },
        ...(row.cost_usd !== null && { costUsd: row.cost_usd }),
      },
    }),
    metadata: {
      ...{ case_id: row.case_id, outcome: row.outcome, failure_class: row.failure_class },
      ...present({ reproducibility: row.reproducibility }),
    },
  };
}
