import type { StreamEvent, Usage } from '@whetstone/events';
import { createConfinedFiles } from '@whetstone/sandbox';
import type { AttemptFiles, Telemetry } from '../../agent.ts';
import type { Command, CommandAgentConfig } from '../../config.ts';
import { nativeAgentOf } from '../../native/native-agents.ts';
import { createCodexCollector } from './codex-jsonl.ts';
import { fileBesideEvents } from './file-beside-events.ts';
import { createJsonFileCollector } from './json-file.ts';
import { createNativeCollector } from './native-stream.ts';
import { createTranscriptCollector } from './transcript.ts';

/**
 * Finds out what an agent says about its own run, in two phases (context-eval, "telemetry"): `prepare` before the
 * agent starts, `collect` after it has ended. Its failures are findings too and never change the turn's outcome. One for
 * all turns of an attempt: what an earlier one left is not told again.
 */
export interface Collector {
  readonly source: Telemetry['source'];
  /** Begins a turn. */
  prepare(turn: CollectedTurn): Preparation;
  /** Takes the agent's standard output as it arrives; absent where the output is plain text. */
  read?(chunk: Buffer): void;
  collect(run: CollectedRun): Promise<Collected>;
}

export type CollectedTurn = {
  /** Whether the turn is the first of its session. */
  isNew: boolean;
  emit: (event: StreamEvent) => void;
};

export type Preparation = {
  /** Value of the template variable `telemetry_file`. */
  telemetryFile?: string;
  env: Record<string, string>;
};

/** `command` as it ran, variables substituted. */
export type CollectedRun = { command: Command; files: AttemptFiles };

export type Collected = {
  telemetry: Telemetry;
  /** Whether the agent's doings have become events; else its output is its message. */
  saw: 'events' | 'text';
  usage?: Usage;
  costUsd?: number;
  /** The agent's own word that its turn ended well, which counts for more than its exit code. */
  isCompleted?: boolean;
  /** The agent's own word that its turn failed, and why. */
  failure?: string;
  /** The agent's own id of its session. */
  sessionId?: string;
};

export type CollectorPlace = {
  workdir: string;
  /** The agent's home. */
  home: string;
  outputDir: string;
};

export function createCollector({ kind, telemetry }: CommandAgentConfig, place: CollectorPlace): Collector {
  const files = createConfinedFiles(place.outputDir);
  switch (telemetry.collector) {
    case 'none':
      return safely(nativeCollector(kind, place));
    case 'json-file':
      return safely(
        fileBesideEvents(
          createJsonFileCollector(telemetry, place.outputDir, files),
          nativeCollector(kind, place),
        ),
      );
    case 'codex-jsonl':
      return safely(createCodexCollector(telemetry, place, files));
  }
}

/** With nothing configured, what is known of the kind's own output. */
function nativeCollector(kind: string, place: CollectorPlace): Collector {
  const { stream, transcript } = nativeAgentOf(kind) ?? {};
  if (stream) return createNativeCollector(kind, stream, place);
  return transcript?.kind === 'files' ? createTranscriptCollector(transcript, place) : noCollector;
}

const noCollector: Collector = {
  source: 'none',
  prepare: () => ({ env: {} }),
  collect: async () => ({
    telemetry: { status: 'unavailable', source: 'none', evidenceGaps: [] },
    saw: 'text',
  }),
};

/** Whatever goes wrong in a collector becomes telemetry of status `error`. */
function safely(collector: Collector): Collector {
  let failure: unknown;
  return {
    source: collector.source,
    prepare(turn) {
      failure = undefined;
      return collector.prepare(turn);
    },
    ...(collector.read && {
      read(chunk: Buffer) {
        if (failure !== undefined) return;
        try {
          collector.read?.(chunk);
        } catch (error) {
          failure = error;
        }
      },
    }),
    async collect(run) {
      try {
        const collected = await collector.collect(run);
        if (failure === undefined) return collected;
      } catch (error) {
        failure ??= error;
      }
      const error = failure instanceof Error ? failure.message : String(failure);
      return {
        telemetry: { status: 'error', source: collector.source, error, evidenceGaps: [] },
        saw: collector.read ? 'events' : 'text',
      };
    },
  };
}
