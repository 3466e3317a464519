import { messageOf } from '@whetstone/errors';
import { createConfinedFiles } from '@whetstone/sandbox';
import type { Telemetry } from '../../agent.ts';
import type { TelemetryConfig } from '../../config.ts';
import { createCodexCollector } from './codex-collector.ts';
import { createJsonFileCollector } from './json-file-collector.ts';
import { noTelemetry, type TelemetryCollector } from './telemetry-collector.ts';

/** Creates the collector of a configuration. */
export function createTelemetryCollector(
  telemetry: TelemetryConfig,
  { workdir, outputDir }: { workdir: string; outputDir: string },
): TelemetryCollector {
  const files = createConfinedFiles(outputDir);
  switch (telemetry.collector) {
    case 'none':
      return noTelemetry;
    case 'json-file':
      return safely('json-file', createJsonFileCollector(telemetry, outputDir, files));
    case 'codex-jsonl':
      return safely('codex-jsonl', createCodexCollector(telemetry, workdir, files));
  }
}

function safely(source: Telemetry['source'], collector: TelemetryCollector): TelemetryCollector {
  return {
    prepare: () => collector.prepare(),
    async collect(turn) {
      try {
        return await collector.collect(turn);
      } catch (error) {
        const message = messageOf(error);
        return { status: 'error', source, error: message, evidenceGaps: [] };
      }
    },
  };
}
