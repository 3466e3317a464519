import { createConfinedFiles } from '@whetstone/sandbox';
import type { AttemptFiles, Telemetry } from '../../agent.ts';
import type { Command, TelemetryConfig } from '../../config.ts';
import type { Reading } from '../turn-reader.ts';
import { createCodexCollector } from './codex-collector.ts';
import { createJsonFileCollector } from './json-file-collector.ts';

/**
 * Sums up what an agent says about its own turn, in two phases (context-eval, "telemetry"): `prepare` before the agent
 * starts, `collect` after it has ended. What goes wrong is telemetry of status `error`, and never changes the outcome of
 * the turn. One collector serves all turns of an attempt.
 */
export type TelemetryCollector = {
  prepare(): { telemetryFile?: string; env: Record<string, string> };
  collect(turn: CollectedTurn): Promise<Telemetry>;
};

export type CollectedTurn = {
  reading: Reading;
  /** Whether what the agent and its sub-agents used is known. */
  isUsageWhole: boolean;
  /** The command as it ran; absent for an agent that Whetstone starts itself. */
  command?: Command | undefined;
  files: AttemptFiles;
};

export const noTelemetry: TelemetryCollector = {
  prepare: () => ({ env: {} }),
  collect: async () => ({ status: 'unavailable', source: 'none', evidenceGaps: [] }),
};

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
        const message = error instanceof Error ? error.message : String(error);
        return { status: 'error', source, error: message, evidenceGaps: [] };
      }
    },
  };
}
