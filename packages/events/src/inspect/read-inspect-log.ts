import { constants } from 'node:buffer';
import { open } from 'node:fs/promises';
import { messageOf } from '@whetstone/errors';
import type { z } from 'zod';
import type { JsonValue } from '../json.ts';
import { type Loss, type LossTally, tallyLosses } from '../loss.ts';
import { present } from '../present.ts';
import type { StreamEvent } from '../stream-event.ts';
import type { Usage } from '../usage.ts';
import { indexChunks, type SampleChunks } from './chunks.ts';
import { InspectLogError, logError } from './inspect-log-error.ts';
import { headerSchema, type Sample, sampleSchema, wholeLogSchema } from './log-shapes.ts';
import { totalUsage } from './model-usage.ts';
import { Transcript } from './transcript.ts';
import { openZipArchive, type ZipArchive } from './zip-archive.ts';

export type InspectSample = {
  id: string | number;
  epoch: number;
  /** How the log has it: in one entry, or in a folder of chunks. */
  shape: 'whole' | 'chunked';
  /** In order of time. */
  events: StreamEvent[];
  metadata: InspectMetadata;
  /** Inspect's own sum over all models of the sample, including scorers. */
  usage?: Usage;
  /** Only if Inspect knew the price of every model. */
  costUsd?: number;
  /** By scorer, as the log has them. */
  scores?: JsonValue;
  lost: Loss[];
};

export type InspectMetadata = {
  /** `started` for an evaluation that has not ended, or was killed. */
  status?: string;
  task?: string;
  taskId?: string;
  evalId?: string;
  runId?: string;
  model?: string;
  /** The error that ended the sample. */
  error?: string;
  /** The sample's own metadata. */
  sample?: JsonValue;
};

export type ReadInspectLogOptions = {
  /** Largest decompressed entry of an archive, or largest `.json` log, in bytes. Default: 256 MiB. */
  maximumEntryBytes?: number;
  /** Limit for all entries of one sample together, in bytes. Default: 1 GiB. */
  maximumSampleBytes?: number;
};

/**
 * Reads the samples of an Inspect log, which is an `.eval` archive or a `.json` file, one at a time: only one sample is
 * in memory (but the whole of a `.json` file). Reads both shapes of samples, also mixed in one archive. The file stays
 * open until the last sample was read or the loop was left.
 * @param source the path of the file, or its bytes.
 * @throws {InspectLogError} with the broken entry, after all samples before it. Errors of the file system (`ENOENT`,
 *   `EACCES`) stay as they are.
 */
export async function* readInspectLog(
  source: string | Uint8Array,
  options: ReadInspectLogOptions = {},
): AsyncGenerator<InspectSample> {
  const limits: Limits = {
    // A text cannot be longer than a string, so a larger limit would only fail later.
    entry: Math.min(options.maximumEntryBytes ?? 256 * 2 ** 20, constants.MAX_STRING_LENGTH),
    sample: options.maximumSampleBytes ?? 2 ** 30,
  };
  const first = await firstBytes(source);
  if (first.subarray(0, 2).toString('latin1') === 'PK') yield* readArchive(source, limits);
  else yield* readJsonLog(source, limits);
}

type Limits = { entry: number; sample: number };

async function* readArchive(source: string | Uint8Array, limits: Limits): AsyncGenerator<InspectSample> {
  const archive = await openZipArchive(source);
  try {
    const log = await readHeader(archive, limits);
    const chunks = indexChunks(archive.names);
    for (const name of archive.names) {
      const read = entryReader(archive, limits);
      if (/^samples\/.+_epoch_\d+\.json$/.test(name)) {
        const sample = checked(sampleSchema, await read(name), name);
        yield await convert(sample, sequencesOfWhole(sample), { log, shape: 'whole', entry: name });
      } else {
        const own = chunks.samples.get(name);
        if (!own) continue;
        const sample = checked(sampleSchema, await read(name), name);
        if (own.metadata !== undefined) sample.metadata = (await read(own.metadata)) as JsonValue;
        const sequences = await sequencesOfChunks(own, read);
        yield await convert(sample, sequences, { log, shape: 'chunked', entry: name });
      }
    }
    if (chunks.strays.length > 0) {
      throw logError('inspect-log-damaged', 'A sample has no sample.json.', chunks.strays[0]);
    }
  } finally {
    archive.close();
  }
}

async function* readJsonLog(source: string | Uint8Array, limits: Limits): AsyncGenerator<InspectSample> {
  const data = await readWhole(source, limits.entry);
  if (data.subarray(0, 1).toString('latin1') !== '{') {
    throw logError('inspect-log-invalid', 'The file is neither an .eval archive nor a .json log.');
  }
  const whole = checked(wholeLogSchema, parseLogJson(data, undefined), undefined);
  const log = metadataOf(whole);
  for (const [index, value] of (whole.samples ?? []).entries()) {
    const entry = `samples.${index}`;
    const sample = checked(sampleSchema, value, entry);
    yield await convert(sample, sequencesOfWhole(sample), { log, shape: 'whole', entry });
  }
}

type ReadEntry = (name: string) => Promise<unknown>;

/** Reads the entries of one sample, which share its limit. */
function entryReader(archive: ZipArchive, limits: Limits): ReadEntry {
  let remaining = limits.sample;
  return async (name) => {
    const data = await archive.read(name, Math.min(limits.entry, remaining));
    remaining -= data.length;
    return parseLogJson(data, name);
  };
}

type Sequences = {
  messagePool: JsonValue[];
  attachmentOf: (reference: string) => string | undefined;
  events: AsyncIterable<JsonValue> | Iterable<JsonValue>;
  conversation: JsonValue[];
};

function sequencesOfWhole(sample: Sample): Sequences {
  const attachments = new Map(Object.entries(sample.attachments ?? {}));
  return {
    messagePool: sample.events_data?.messages ?? [],
    attachmentOf: (hash) => attachments.get(hash),
    events: sample.events ?? [],
    conversation: sample.messages ?? [],
  };
}

/** Events are read chunk by chunk as they are used. References to messages and attachments can be anywhere. */
async function sequencesOfChunks(chunks: SampleChunks, read: ReadEntry): Promise<Sequences> {
  const messagePool = await Array.fromAsync(chunks.items('messages', read));
  const attachments = await Array.fromAsync(chunks.items('attachments', read));
  return {
    messagePool,
    attachmentOf: (index) => {
      const attachment = /^\d+$/.test(index) ? attachments[Number(index)] : undefined;
      return typeof attachment === 'string' ? attachment : undefined;
    },
    events: eventsOfChunks(chunks, read),
    conversation: messagePool,
  };
}

/** A missing last chunk leaves no gap. The list with a uuid for each event reveals it. */
async function* eventsOfChunks(chunks: SampleChunks, read: ReadEntry): AsyncGenerator<JsonValue> {
  let count = 0;
  for await (const event of chunks.items('events', read)) {
    count += 1;
    yield event;
  }
  if (chunks.eventUuids === undefined) return;
  const uuids = await read(chunks.eventUuids);
  if (Array.isArray(uuids) && uuids.length > count) {
    const message = `There are ${uuids.length} events, and chunks for ${count}.`;
    throw logError('inspect-log-damaged', message, chunks.eventUuids);
  }
}

type SampleLocation = { log: InspectMetadata; shape: InspectSample['shape']; entry: string };

async function convert(sample: Sample, sequences: Sequences, place: SampleLocation): Promise<InspectSample> {
  try {
    return await convertSample(sample, sequences, place);
  } catch (error) {
    if (!(error instanceof InspectLogError) || error.where !== undefined) throw error;
    throw new InspectLogError(error.code, error.message, { where: place.entry, cause: error });
  }
}

async function convertSample(
  sample: Sample,
  sequences: Sequences,
  { log, shape }: SampleLocation,
): Promise<InspectSample> {
  const losses = tallyLosses();
  const resolve = createAttachmentResolver(sequences.attachmentOf, losses);
  const transcript = new Transcript({ losses, resolve, pool: sequences.messagePool });
  let isEmpty = true;
  for await (const event of sequences.events) {
    transcript.add(event);
    isEmpty = false;
  }
  if (isEmpty) transcript.addConversation(conversationOf(sample, sequences));
  const started: StreamEvent = {
    type: 'session.started',
    runtime: 'inspect_ai',
    ...present({ model: log.model }),
  };
  return {
    id: sample.id,
    epoch: sample.epoch,
    shape,
    events: [started, ...transcript.finish()],
    metadata: {
      ...log,
      ...present({ error: sample.error?.message }),
      ...(sample.metadata == null ? {} : { sample: resolve(sample.metadata) }),
    },
    ...totalUsage(sample.model_usage),
    ...(sample.scores == null ? {} : { scores: resolve(sample.scores) }),
    lost: losses.list(),
  };
}

/** The final conversation. A chunked sample has references into its pool of messages. */
function conversationOf(sample: Sample, { conversation }: Sequences): JsonValue[] {
  if (!sample.message_refs) return conversation;
  return sample.message_refs.flatMap(([start, end]) => conversation.slice(start, end));
}

function checked<Shape>(schema: z.ZodType<Shape>, value: unknown, entry: string | undefined): Shape {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const message = `${issue?.path.join('.') || 'content'}: ${issue?.message ?? 'not of a log'}`;
  throw logError('inspect-log-invalid', message, entry);
}

async function readHeader(archive: ZipArchive, limits: Limits): Promise<InspectMetadata> {
  const name = ['header.json', '_journal/start.json'].find((known) => archive.names.includes(known));
  if (name === undefined) {
    throw logError('inspect-log-invalid', 'The archive has neither header.json nor _journal/start.json.');
  }
  const header = checked(headerSchema, parseLogJson(await archive.read(name, limits.entry), name), name);
  return { status: 'started', ...metadataOf(header) };
}

function metadataOf({ status, eval: spec }: z.infer<typeof headerSchema>): InspectMetadata {
  const { task, task_id: taskId, eval_id: evalId, run_id: runId, model } = spec;
  return present({ status, task, taskId, evalId, runId, model });
}

async function firstBytes(source: string | Uint8Array): Promise<Buffer> {
  if (typeof source !== 'string') return Buffer.from(source.subarray(0, 2));
  await using file = await open(source);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(2) });
  return buffer.subarray(0, bytesRead);
}

async function readWhole(source: string | Uint8Array, limit: number): Promise<Buffer> {
  const tooLarge = () => logError('inspect-log-too-large', `The log is larger than ${limit} bytes.`);
  if (typeof source !== 'string') {
    if (source.byteLength > limit) throw tooLarge();
    return Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  }
  await using file = await open(source);
  if ((await file.stat()).size > limit) throw tooLarge();
  return file.readFile();
}

const PROTOCOL = 'attachment://';

/** Deeper than any log, and far from exhausting the stack. */
const MAXIMUM_DEPTH = 500;

/**
 * Puts attachments back where a log refers to them. A reference is a whole string: a content hash in a whole sample, an
 * index in a chunked one. References inside attachments are not replaced.
 */
function createAttachmentResolver(
  attachmentOf: (reference: string) => string | undefined,
  losses: LossTally,
): (value: JsonValue) => JsonValue {
  const resolve = (value: JsonValue, depth: number): JsonValue => {
    if (typeof value === 'string') {
      if (!value.startsWith(PROTOCOL)) return value;
      const attachment = attachmentOf(value.slice(PROTOCOL.length));
      if (attachment === undefined) losses.add('attachment', 'not in the log, so the reference stays');
      return attachment ?? value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAXIMUM_DEPTH) {
      throw logError('inspect-log-invalid', `Values are nested deeper than ${MAXIMUM_DEPTH}.`);
    }
    if (Array.isArray(value)) return value.map((item) => resolve(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, depth + 1)]));
  };
  return (value) => resolve(value, 0);
}

/** Parses JSON as Python writes it. `NaN` and the infinities, which JSON does not have, become null. */
function parseLogJson(data: Buffer, entry: string | undefined): unknown {
  const text = data.toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return JSON.parse(withoutConstants(text));
    } catch {
      throw logError('inspect-log-damaged', `The content is not JSON (${messageOf(error)}).`, entry, error);
    }
  }
}

function withoutConstants(text: string): string {
  const parts: string[] = [];
  let position = 0;
  while (position < text.length) {
    const quote = text.indexOf('"', position);
    const end = quote === -1 ? text.length : quote;
    parts.push(text.slice(position, end).replaceAll(/-?\b(?:NaN|Infinity)\b/g, 'null'));
    position = endOfString(text, end);
    parts.push(text.slice(end, position));
  }
  return parts.join('');
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return Math.min(text.length, end + 1);
}
