import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { crc32, inflateRaw, zstdDecompress } from 'node:zlib';
import { codeOf, messageOf } from '@whetstone/errors';
import { type Entry, fromBufferPromise, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl';
import { InspectLogError, logError } from './inspect-log-error.ts';

export type ZipArchive = Awaited<ReturnType<typeof openZipArchive>>;

const STORED = 0;
const DEFLATED = 8;
const ZSTANDARD = 93;

/** Reads entries of a ZIP by name. Nothing is ever written to a path, so a name is only a name. */
export async function openZipArchive(source: string | Uint8Array) {
  // Names are decoded here, because yauzl would refuse a whole archive for one suspicious name.
  const options = { autoClose: false, decodeStrings: false };
  let zip: ZipFile | undefined;
  try {
    zip =
      typeof source === 'string'
        ? await openPromise(source, options)
        : await fromBufferPromise(Buffer.from(source.buffer, source.byteOffset, source.byteLength), options);
    const opened = zip;
    const entries = await entriesOf(opened);
    return {
      /** In the order of the central directory. Of two entries with the same name, the later one is valid. */
      names: [...entries.keys()],
      /** @throws {InspectLogError} when the entry is damaged, unsupported, or longer than `limit` bytes. */
      read: (name: string, limit: number): Promise<Buffer> =>
        readEntry(opened, name, entries.get(name), limit),
      close: (): void => opened.close(),
    };
  } catch (error) {
    zip?.close();
    if (isFileSystemError(error)) throw error;
    const message = 'The archive has no readable directory: it is cut off, or still being written';
    throw logError('inspect-log-damaged', `${message} (${messageOf(error)})`, undefined, error);
  }
}

async function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
    entries.set(getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true), entry);
  }
  return entries;
}

async function readEntry(
  zip: ZipFile,
  name: string,
  entry: Entry | undefined,
  limit: number,
): Promise<Buffer> {
  if (!entry) throw logError('inspect-log-damaged', 'The archive does not have the entry.', name);
  if (entry.isEncrypted()) throw logError('inspect-log-unsupported', 'The entry is encrypted.', name);
  const larger = logError('inspect-log-too-large', `The entry is larger than ${limit} bytes.`, name);
  if (entry.compressedSize > limit || entry.uncompressedSize > limit) throw larger;
  let content: Buffer;
  try {
    const stream = await zip.openReadStreamPromise(entry, { decodeFileData: false });
    content = await decompress(await buffer(stream), entry.compressionMethod, name, limit);
  } catch (error) {
    if (error instanceof InspectLogError) throw error;
    // The size in the directory is only a claim; this is the real size.
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw larger;
    const message = `The entry cannot be read (${messageOf(error)}).`;
    throw logError('inspect-log-damaged', message, name, error);
  }
  if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) {
    throw logError('inspect-log-damaged', 'The entry is not what the directory says.', name);
  }
  return content;
}

async function decompress(data: Buffer, method: number, name: string, limit: number): Promise<Buffer> {
  switch (method) {
    case STORED:
      return data;
    case DEFLATED:
      return promisify(inflateRaw)(data, { maxOutputLength: limit });
    case ZSTANDARD:
      return decompressFrames(data, limit);
    default:
      throw logError('inspect-log-unsupported', `The compression method is ${method}.`, name);
  }
}

/** Node stops after the first of several zstd frames. `engine.bytesWritten` is how much of the input a frame took. */
async function decompressFrames(data: Buffer, limit: number): Promise<Buffer> {
  const frames: Buffer[] = [];
  let length = 0;
  for (let offset = 0; offset < data.length; ) {
    const { content, consumed } = await decompressFrame(data.subarray(offset), limit - length);
    if (consumed === 0) throw new Error('a frame without data');
    frames.push(content);
    length += content.length;
    offset += consumed;
  }
  return frames.length === 1 && frames[0] ? frames[0] : Buffer.concat(frames);
}

function decompressFrame(data: Buffer, limit: number): Promise<{ content: Buffer; consumed: number }> {
  return new Promise((resolve, reject) => {
    // Node takes a limit of 0 as no limit; an empty frame still fits into 1.
    const options = { info: true, maxOutputLength: Math.max(1, limit) };
    zstdDecompress(data, options, (error, result) => {
      if (error) return reject(error);
      // With `info` the result has both; the types only know the buffer.
      const { buffer: content, engine } = result as unknown as {
        buffer: Buffer;
        engine: { bytesWritten: number };
      };
      resolve({ content, consumed: engine.bytesWritten });
    });
  });
}

/** The error of a file that does not exist or may not be read stays as it is. */
function isFileSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
