import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type NativeAgentKind, nativeAgentOf, readableKinds } from '../native-agents.ts';
import type { NativeMapper } from '../../kit/native-mapper.ts';
import { type NativeReading, readNative } from './read-native.ts';

export type RecordedKind = NativeAgentKind;
export const recordedKinds = readableKinds;

/** The workspace of the recorded agents, and their MCP server, which some tool names do not show. */
const place = { workdir: '/workspace', mcpServers: ['weather'] };

/**
 * Recorded streams and transcripts of an agent:
 * `<kind>/__fixtures__/<agent>-<version>/<name>.{stream,transcript}.{jsonl,json}`, each with a golden file of its events.
 */
export function recordingsOf(kind: RecordedKind) {
  const [folder = ''] = globSync(`../${kind}/__fixtures__/*/`, { cwd: import.meta.dirname });
  const root = join(import.meta.dirname, folder);
  const { stream, transcript } = nativeAgentOf(kind) ?? {};
  const bytesOf = (file: string): Buffer => readFileSync(join(root, file));
  const form = transcript?.kind === 'printed' ? 'document' : 'lines';
  const suffix = form === 'document' ? '.transcript.json' : '.transcript.jsonl';
  const names = (ending: string): string[] =>
    globSync(`*${ending}`, { cwd: root })
      .map((file) => basename(file, ending))
      .toSorted();
  return {
    bytesOf,
    streamNames: names('.stream.jsonl'),
    transcriptNames: names(suffix),
    transcriptPattern: transcript?.kind === 'files' ? transcript.pattern : '',
    textOf: (name: string, source: 'stream' | 'transcript'): string =>
      bytesOf(name + (source === 'stream' ? '.stream.jsonl' : suffix)).toString(),
    goldenOf: (name: string, source: 'stream' | 'transcript'): string =>
      join(root, `${name}.${source}.events.jsonl`),
    stream: (name: string, mapper: NativeMapper | undefined = stream?.open(place)): NativeReading =>
      readNative(needed(mapper), bytesOf(`${name}.stream.jsonl`)),
    transcript: (name: string): NativeReading =>
      readNative(needed(transcript?.createMapper(place)), bytesOf(name + suffix), { form }),
  };
}

function needed(mapper: NativeMapper | undefined): NativeMapper {
  if (!mapper) throw new Error('This kind of agent has no mapper of that form.');
  return mapper;
}

/** Items as JSON Lines. */
export const linesOf = (...items: readonly object[]): Buffer =>
  Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
