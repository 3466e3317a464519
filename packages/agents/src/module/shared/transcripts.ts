import { stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { filesBelow, isUnder, readKeptFile, type Sandbox } from '@whetstone/sandbox';
import { objectIn, textIn } from '../../kit/fields.ts';

const LIMIT_MS = 30_000;
/** A long session writes far less. */
const LARGEST_TRANSCRIPT_BYTES = 64 * 1024 * 1024;

/**
 * The text of the most recently modified `.jsonl` file in `dir` or below it; `''` when there is none. `~/` is the home of
 * the sandbox; a relative path starts at the workspace. Of a file over 64 MiB only the last 64 MiB are read, without a
 * first line that was cut. The host reads it, without a program of the sandbox. Links below `dir` are not followed, and
 * those on the way must stay in the home or the workspace.
 *
 * @throws WhetstoneError `agent-transcript-unreadable` when the folder or the file exists and cannot be read.
 */
export async function captureLatestJsonl(sandbox: Sandbox, dir: string): Promise<string> {
  const folder = absolutePath(sandbox, dir);
  const own = [sandbox.home, sandbox.workdir].find((root) => isUnder(root, folder));
  const [root, path] = [own ?? folder, folder].map((place) => sandbox.hostPath(place)) as [string, string];
  try {
    const newest = await newestBelow(root, path);
    return newest === undefined ? '' : await readEnd(root, newest);
  } catch (error) {
    throw new WhetstoneError(
      'agent-transcript-unreadable',
      `The transcript cannot be read: ${messageOf(error)}.`,
      {
        where: folder,
        cause: error,
      },
    );
  }
}

/** The last `sessionId` (session file) or `session_id` (`stream-json`) in a transcript of Claude Code. Never throws. */
export function sessionIdFromClaudeTranscript(raw: string): string | undefined {
  // The last line of a session that was killed may be cut.
  const ids = raw.split('\n').map((line) => {
    const { sessionId, session_id } = objectIn(parseJson(line)) ?? {};
    return textIn(sessionId ?? session_id);
  });
  return ids.findLast(Boolean);
}

function absolutePath({ home, workdir }: Sandbox, path: string): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice(2)) : posix.resolve(workdir, path);
}

type KeptFile = { path: string; at: number; size: number };

/** The most recently modified one; `undefined`: there is none. */
async function newestBelow(root: string, folder: string): Promise<KeptFile | undefined> {
  let newest: KeptFile | undefined;
  if (!(await stat(root).catch(() => undefined))) return undefined;
  for await (const path of filesBelow(root, folder)) {
    if (!path.endsWith('.jsonl')) continue;
    const { mtimeMs: at, size } = await stat(path);
    if (!newest || at > newest.at) newest = { path, at, size };
  }
  return newest;
}

async function readEnd(root: string, { path, size }: KeptFile): Promise<string> {
  // One byte more shows whether the first line is whole.
  const start = Math.max(0, size - LARGEST_TRANSCRIPT_BYTES - 1);
  const signal = AbortSignal.timeout(LIMIT_MS);
  const chunks: Buffer[] = [];
  let left = size - start;
  for await (const chunk of readKeptFile(root, path, { start, signal })) {
    chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
    // What is written from now on does not belong to it: somebody could write without end.
    if (left <= 0) break;
  }
  const bytes = Buffer.concat(chunks);
  return bytes.toString('utf8', start === 0 ? 0 : bytes.indexOf('\n') + 1);
}
