import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { type ExportFormat, exportRun } from '../export/export-run.ts';
import { type OtlpTarget, sendOtlp } from '../export/send-otlp.ts';
import { readRun } from '../record/read-run.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { type ReportedRun, reportRun } from '../run/write-report.ts';
import { locateRun } from './report.ts';
import type { Streams } from './streams.ts';

export type ExportOptions = {
  format?: ExportFormat;
  out?: string;
  otlp?: string;
  otlpContent?: boolean;
  config?: string;
  json?: boolean;
};

/** Writes the cases of a run in another format, or sends their spans. @throws WhetstoneError `export-option-invalid` */
export async function exportCommand(
  reference: string,
  options: ExportOptions,
  streams: Pick<Streams, 'stdout' | 'stderr'>,
): Promise<number> {
  const { format, otlp, json = false } = options;
  if (format === undefined && otlp === undefined) {
    throw new WhetstoneError('export-option-invalid', 'Nothing says what to export.', {
      hint: 'Name a format (--format atif) or a receiver (--otlp http://localhost:4318).',
    });
  }
  const run = reportRun(await readRun(await locateRun(reference, options.config)));
  const out = options.out ?? join(run.directory, 'export', format ?? '');
  const exported = format === undefined ? undefined : await exportRun(run, format, out);
  const sent = otlp === undefined ? undefined : await sendOtlp(run, targetOf(otlp, options.otlpContent));
  if (json) {
    streams.stdout.write(escapedJson({ exported: exported ?? null, sent: sent ?? null }));
    return 0;
  }
  if (exported) {
    const { files, cases, lost } = exported;
    streams.stdout.write(`Wrote ${counted(files.length, 'file')} with ${counted(cases, 'case')}: ${out}\n`);
    for (const { what, count, why } of lost)
      streams.stderr.write(`left out  ${oneLine(what)} (${count}): ${oneLine(why)}\n`);
  }
  if (otlp !== undefined) streams.stdout.write(sentLine(otlp, sent));
  return 0;
}

/** Sends what a run did after it has ended. What the receiver says never changes the result of the run. */
export async function sendAfterRun(
  run: ReportedRun,
  url: string,
  { stderr }: Pick<Streams, 'stderr'>,
): Promise<void> {
  try {
    stderr.write(sentLine(url, await sendOtlp(run, targetOf(url, false))));
  } catch (error) {
    if (!(error instanceof WhetstoneError)) throw error;
    stderr.write(
      `warning  The traces were not sent: ${error.message} Send them with: whetstone export ${run.manifest.run_id} --otlp URL\n`,
    );
  }
}

const sentLine = (url: string, sent: Awaited<ReturnType<typeof sendOtlp>> | undefined): string =>
  `Sent the traces of ${counted(sent?.cases ?? 0, 'case')} to ${new URL(url).host}${sent && sent.rejected_spans > 0 ? `; the receiver refused ${counted(sent.rejected_spans, 'span')}` : ''}\n`;

/** Headers come from the variable that all exporters read, as `key=value,key=value`, percent-encoded. */
function targetOf(url: string, content = false): OtlpTarget {
  const given = process.env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? process.env.OTEL_EXPORTER_OTLP_HEADERS ?? '';
  const headers = Object.fromEntries(
    given.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at > 0 ? [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]] : [];
    }),
  );
  return { url, headers, content };
}

/** A value that is not percent-encoded is taken as it is. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
