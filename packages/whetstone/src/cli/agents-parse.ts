import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { metadataFacts, parseNative } from '@whetstone/agents';
import { WhetstoneError } from '@whetstone/errors';
import { deriveAgentMetadata, type StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { counted } from '../report/format.ts';
import type { Streams } from './streams.ts';

export type ParseCommandOptions = { metadata?: boolean; form?: 'stream' | 'transcript'; json?: boolean };

/** Prints one event per line, or with `--metadata` one `AgentMetadata`; on stderr what could not be read. */
export async function parseCommand(
  kind: string,
  file: string,
  options: ParseCommandOptions,
  { stdin, stdout, stderr }: Streams,
): Promise<number> {
  const source = file === '-' ? stdin : createReadStream(await existingFile(file));
  const events: StreamEvent[] = [];
  const take = (event: StreamEvent): void => {
    if (options.metadata) events.push(event);
    else stdout.write(`${JSON.stringify(event)}\n`);
  };
  const summary = await parseNative(kind, source, { emit: take, ...present({ form: options.form }) });
  if (options.metadata) {
    stdout.write(`${JSON.stringify(deriveAgentMetadata(events, metadataFacts(summary)), null, 2)}\n`);
  }
  const { lines, malformed, unknown, tooLong, ending } = summary;
  const exitCode = lines > 0 && malformed === lines ? 1 : 0;
  if (options.json) {
    const counts = { items: lines, malformed, unknown, too_long: tooLong, ending: ending ?? null };
    stderr.write(`${JSON.stringify(counts)}\n`);
    return exitCode;
  }
  const kept = [
    ...(malformed > 0 ? [`${malformed} not JSON`] : []),
    ...(unknown > 0 ? [`${unknown} unknown to this version`] : []),
    ...(tooLong > 0 ? [`${tooLong} too long`] : []),
  ];
  stderr.write(
    `${counted(lines, 'item')}${kept.length > 0 ? `, of which ${kept.join(', ')}: kept as raw events` : ''}; the turn ${ending ?? 'did not end'}.\n`,
  );
  return exitCode;
}

async function existingFile(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile()) return file;
  throw new WhetstoneError('file-not-found', `${file} is not a file.`, {
    hint: 'Name a stored stream or transcript, or - for standard input.',
  });
}
