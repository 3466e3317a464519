import { messageOf } from '@whetstone/errors';
import { createConfinedFiles } from '@whetstone/sandbox';
import type { TelemetryConfig } from '../../config.ts';
import { createCodexCollector } from './codex-collector.ts';
import { createJsonFileCollector } from './json-file-collector.ts';
import { noTelemetry, type TelemetryCollector } from './telemetry-collector.ts';

/** Creates the collector of a configuration. */
export function createTelemetryCollector(
  telemetry: TelemetryConfig,
  { workdir, outputDir }: { workdir: string; outputDir: string },
): TelemetryCollector {
  const source = telemetry.collector;
  if (source === 'none') return noTelemetry;
  const files = createConfinedFiles(outputDir);
  const collector =
    source === 'json-file'
      ? createJsonFileCollector(telemetry, outputDir, files)
      : createCodexCollector(telemetry, workdir, files);
  return {
    prepare: () => collector.prepare(),
    async collect(turn) {
      try {
        return await collector.collect(turn);
      } catch (error) {
        return { status: 'error', source, error: messageOf(error), evidenceGaps: [] };
      }
    },
  };
}
