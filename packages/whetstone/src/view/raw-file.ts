import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** The bytes of a file as they are, or a range of them. */
export type RawFile = {
  status: 200 | 206 | 416;
  headers: Record<string, string>;
  stream: Readable | undefined;
};

/**
 * Opens a regular file to be sent as it is. `range` is the header of a request: `bytes=0-99`, `bytes=100-` or `bytes=-100`; any
 * other is ignored. Resolves with `undefined` for what is not a regular file.
 */
export async function openRawFile(path: string, range = ''): Promise<RawFile | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) {
    await file.close();
    return undefined;
  }
  const { size } = stats;
  const headers = { 'Accept-Ranges': 'bytes', 'Content-Disposition': 'attachment' };
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  const isPart = from !== '' || to !== '';
  const start = from === '' ? (to === '' ? 0 : Math.max(0, size - Number(to))) : Number(from);
  const end = from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to));
  if (isPart && start > end) {
    await file.close();
    return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${size}` }, stream: undefined };
  }
  const length = { 'Content-Length': String(Math.max(0, end - start + 1)) };
  const part: Record<string, string> = isPart ? { 'Content-Range': `bytes ${start}-${end}/${size}` } : {};
  if (size === 0) {
    await file.close();
    return { status: 200, headers: { ...headers, ...length }, stream: undefined };
  }
  return {
    status: isPart ? 206 : 200,
    headers: { ...headers, ...length, ...part },
    stream: file.createReadStream({ start, end }),
  };
}
