import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { StreamFormat } from '../../native/native-agent.ts';
import type { NativeMapper } from '../native-mapper.ts';
import { type JsonLinesReader, readJsonLines } from '../read-json-lines.ts';
import type { CollectedTurn, Collector, CollectorPlace } from './collector.ts';

const OPENING_BRACE = '{'.charCodeAt(0);

/**
 * Reads what an agent of a known kind prints, where its command asks it for JSON: told by the first character that is no
 * white space. Other output is text, as that of any command.
 */
export function createNativeCollector(
  kind: string,
  { open }: StreamFormat,
  { workdir }: CollectorPlace,
): Collector {
  let turn: CollectedTurn = { isNew: true, emit: () => {} };
  let mapper: NativeMapper | undefined;
  let reader: JsonLinesReader | 'text' | undefined;
  return {
    source: 'none',
    prepare(next) {
      turn = next;
      reader = undefined;
      return { env: {} };
    },
    read(chunk) {
      reader ??= opened(chunk);
      if (reader !== undefined && reader !== 'text') reader.push(chunk);
    },
    async collect() {
      const telemetry = { status: 'unavailable', source: 'none', evidenceGaps: [] as string[] } as const;
      if (reader === undefined || reader === 'text') return { telemetry, saw: 'text' };
      const { ending, failure, usage, costUsd, sessionId } = reader.end();
      const isCompleted = ending === 'completed' || ending === 'waiting';
      return {
        telemetry,
        saw: 'events',
        isCompleted,
        ...present({ usage, costUsd, sessionId }),
        ...(!isCompleted && { failure: failure ?? 'The agent ended without saying how its turn went.' }),
      };
    },
  };

  function opened(chunk: Buffer): JsonLinesReader | 'text' | undefined {
    const first = chunk.find((byte) => byte > 0x20);
    if (first === undefined) return undefined;
    if (first === OPENING_BRACE) {
      mapper = open({ workdir }, turn.isNew ? 'new' : (mapper ?? 'unread'));
      return readJsonLines(mapper, turn.emit);
    }
    turn.emit(started(kind, workdir));
    return 'text';
  }
}

const started = (runtime: string, workingDir: string): StreamEvent => ({
  type: 'session.started',
  runtime,
  workingDir,
});
