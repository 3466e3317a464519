import { isUtf8 } from 'node:buffer';
import { open, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { codeOf, messageOf, printable } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { z } from 'zod';
import { GatewayError } from '../gateway-error.ts';
import { jsonLinesFile, type MaskText } from '../json-lines-file.ts';
import { wireProtocols } from '../wire/neutral.ts';
import { canonicalRulesVersion } from './canonical-rules.ts';

const jsonObject = z.record(z.string(), z.json()).transform((value): JsonObject => value);

const exchangeSchema = z.object({
  version: z.literal(1),
  /** The version of the rules that made `key`. */
  rules: z.number().int(),
  key: z.string(),
  wire: z.enum(wireProtocols),
  method: z.string(),
  path: z.string(),
  /** Whether the request offers tools. Main requests do; side requests mostly do not. */
  main: z.boolean(),
  /** How many model replies the request's history has. */
  turn: z.number().int().nonnegative(),
  request: jsonObject,
  response: z.object({
    status: z.number().int(),
    headers: z.record(z.string(), z.string()),
    /** Milliseconds from the request to the arrival of a text, and the text. Code points are whole. */
    chunks: z.array(z.tuple([z.number(), z.string()])),
  }),
});

/** One request and its response, as one JSON line of a cassette. */
export type RecordedExchange = z.infer<typeof exchangeSchema>;

/**
 * Reads a cassette: JSON Lines, plain or compressed with zstd (`.zst`).
 * @throws GatewayError `cassette-unreadable`, which names the line.
 */
export async function readCassette(file: string): Promise<RecordedExchange[]> {
  const lines = (await textOf(await bytesOf(file), file)).split('\n');
  return lines.flatMap((line, index) =>
    line.trim() === '' ? [] : [parseExchange(line, `${file}:${index + 1}`)],
  );
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const hint = HINTS[codeOf(error) ?? ''];
    throw unreadable(file, messageOf(error), { cause: error, ...present({ hint }) });
  }
}

const HINTS: Record<string, string> = {
  EISDIR: 'Name the file in the folder that has the recording.',
  EACCES: 'Give yourself the right to read it.',
};

async function textOf(bytes: Buffer, file: string): Promise<string> {
  if (!file.endsWith('.zst')) return textIn(bytes, file);
  const unpacked = await promisify(zstdDecompress)(bytes).catch((cause: unknown) => {
    const hint = `Remove \`.zst\` from its name if it is not compressed. ${WHICH}`;
    throw unreadable(file, `it is not compressed with zstd, or it is damaged (${messageOf(cause)}).`, {
      hint,
      cause,
    });
  });
  return textIn(unpacked, file);
}

function textIn(bytes: Buffer, file: string): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw bytes.subarray(0, 4).equals(ZSTD)
    ? unreadable(file, 'it is compressed with zstd.', { hint: 'Let its name end with `.zst`.' })
    : unreadable(file, 'it is not text, and a recording is lines of JSON.', { hint: WHICH });
}

/** What every frame of zstd begins with. */
const ZSTD = Buffer.from('28b52ffd', 'hex');

const WHICH =
  'Give the file that `--mode record` wrote. If it is that file, it is damaged: restore it, or record it again.';

function parseExchange(line: string, where: string): RecordedExchange {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    const begins = printable(JSON.stringify(line.slice(0, 30)));
    throw unreadable(where, `the line is not JSON. It begins with ${begins}.`, { hint: WHICH, cause: error });
  }
  const parsed = exchangeSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const what = `${issue?.path.join('.') || 'line'}: ${issue?.message}`;
    throw unreadable(where, what, { hint: WHICH, cause: parsed.error });
  }
  if (parsed.data.rules !== canonicalRulesVersion) {
    const versions = `rules ${parsed.data.rules}, and this version has ${canonicalRulesVersion}`;
    throw unreadable(where, `it was recorded with ${versions}. Record it again.`);
  }
  return parsed.data;
}

const unreadable = (
  where: string,
  reason: string,
  options: { hint?: string; cause?: unknown } = {},
): GatewayError =>
  new GatewayError('cassette-unreadable', `The cassette cannot be read: ${reason}`, { where, ...options });

export type CassetteWriter = Awaited<ReturnType<typeof createCassette>>;

/**
 * A new cassette. Its `close` rejects with `cassette-unwritable` when an exchange could not be written.
 * @throws GatewayError `cassette-unwritable` when the file cannot be created, or already exists.
 */
export async function createCassette(where: string, mask: MaskText | undefined) {
  const unwritable = (cause: unknown, reason = messageOf(cause)): GatewayError =>
    new GatewayError('cassette-unwritable', `The cassette cannot be written: ${reason}`, { where, cause });
  try {
    return jsonLinesFile<RecordedExchange>(await open(where, 'wx'), { unwritable, mask });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw unwritable(error);
    throw unwritable(error, 'it already exists. Delete it, or record into another file.');
  }
}
