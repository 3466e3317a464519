import { glob, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { createConfinedFiles } from '@whetstone/sandbox';
import type { CreateMapper } from '../native-mapper.ts';
import { readJsonLines } from '../read-json-lines.ts';
import type { CollectedTurn, Collector, CollectorPlace } from './collector.ts';

/** What an agent prints is text for people; its transcript, a file in its home, tells what it did. */
export function createTranscriptCollector(
  { pattern, createMapper }: { pattern: string; createMapper: CreateMapper },
  { workdir, home }: CollectorPlace,
): Collector {
  /** How much of each file earlier turns had: a session is one file, which grows. */
  const told = new Map<string, number>();
  let emit: CollectedTurn['emit'] = () => {};
  return {
    source: 'none',
    prepare(turn) {
      emit = turn.emit;
      return { env: {} };
    },
    async collect() {
      const telemetry = { status: 'unavailable', source: 'none', evidenceGaps: [] as string[] } as const;
      const newest = await newestFile(home, pattern);
      const content = newest === undefined ? undefined : await createConfinedFiles(home).read(newest);
      const before = told.get(newest ?? '') ?? 0;
      if (newest === undefined || !content || content.length === before) {
        return { telemetry: { ...telemetry, evidenceGaps: ['transcript_missing'] }, saw: 'text' };
      }
      told.set(newest, content.length);
      const reader = readJsonLines(createMapper({ workdir }), emit);
      // One that has become shorter was written anew.
      reader.push(content.length > before ? content.subarray(before) : content);
      const { ending, failure, usage } = reader.end();
      return {
        telemetry,
        saw: 'events',
        ...present({ usage }),
        ...(ending === 'failed' && { failure: failure ?? 'The transcript says that the turn failed.' }),
      };
    },
  };
}

async function newestFile(home: string, pattern: string): Promise<string | undefined> {
  let newest: { path: string; at: number } | undefined;
  for await (const path of glob(pattern, { cwd: home })) {
    const at = (await stat(join(home, path)).catch(() => undefined))?.mtimeMs;
    if (at !== undefined && (!newest || at > newest.at)) newest = { path, at };
  }
  return newest?.path;
}
