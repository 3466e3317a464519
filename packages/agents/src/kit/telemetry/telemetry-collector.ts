import type { AttemptFiles, Telemetry } from '../../agent.ts';
import type { Reading } from '../output-reader.ts';

/**
 * Sums up what an agent reports about its own turn, in two phases (context-eval, "telemetry"): `prepare` runs before the
 * agent starts, `collect` after it has ended. An error gives telemetry with status `error` and never changes the outcome
 * of the turn. One collector serves all turns of an attempt.
 */
export type TelemetryCollector = {
  prepare(): { telemetryFile?: string; env: Record<string, string> };
  collect(turn: CollectedTurn): Promise<Telemetry>;
};

export type CollectedTurn = {
  reading: Reading;
  /** Whether the usage of the agent and its sub-agents is known. */
  isUsageWhole: boolean;
  /** The words of the command that ran. Empty for an agent that Whetstone starts itself. */
  words: readonly string[];
  files: AttemptFiles;
};

export const noTelemetry: TelemetryCollector = {
  prepare: () => ({ env: {} }),
  collect: async () => ({ status: 'unavailable', source: 'none', evidenceGaps: [] }),
};
