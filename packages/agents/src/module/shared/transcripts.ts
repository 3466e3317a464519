import { join, posix } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import type { CommandResult, Sandbox } from '@whetstone/sandbox';
import { objectIn, textIn } from '../../kit/fields.ts';

const LIMIT_MS = 30_000;
/** A long session writes far less. */
const LARGEST_TRANSCRIPT_BYTES = 64 * 1024 * 1024;

/** Prints the newest of the files that are its arguments, then NUL. */
const PRINT_NEWEST =
  'newest=$1; for file do if [ "$file" -nt "$newest" ]; then newest=$file; fi; done; printf "%s\\0" "$newest"';

/**
 * The text of the most recently modified `.jsonl` file in `dir` or below it; `''` when there is none. `~/` is the home of
 * the sandbox; a relative path starts at the workspace. Of a file over 64 MiB only the last 64 MiB are read, without a
 * first line that was cut. Links below `dir` are not followed.
 *
 * @throws WhetstoneError `agent-transcript-unreadable` when the folder or the file exists and cannot be read.
 */
export async function captureLatestJsonl(sandbox: Sandbox, dir: string): Promise<string> {
  const folder = absolutePath(sandbox, dir);
  const found = await sandbox.runCommand(
    '/bin/sh',
    [
      ...['-c', '[ -e "$1" ] || exit 0; exec find -H "$@"', 'sh', folder],
      ...['-type', 'f', '-name', '*.jsonl', '-exec', '/bin/sh', '-c', PRINT_NEWEST, 'sh', '{}', '+'],
    ],
    { timeoutMs: LIMIT_MS },
  );
  // `find` fails for a folder that it may not search, even when it has found a file elsewhere.
  if (found.exitCode !== 0 && found.stdout === '') throw unreadable(found, folder);
  const [path, ...others] = found.stdout.split('\0').filter((name) => name !== '');
  if (path === undefined) return '';
  return readEnd(sandbox, others.length === 0 ? path : await newestOf(sandbox, [path, ...others]));
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

/** `find` passes as many names as fit into one command, so each of several commands may have found a newest file. */
async function newestOf(sandbox: Sandbox, paths: string[]): Promise<string> {
  const { stdout } = await sandbox.runCommand('/bin/sh', ['-c', PRINT_NEWEST, 'sh', ...paths], {
    timeoutMs: LIMIT_MS,
  });
  return stdout.replace('\0', '');
}

/** Reads through the callback, because the text of a command result is shortened. */
async function readEnd(sandbox: Sandbox, path: string): Promise<string> {
  const chunks: Buffer[] = [];
  const result = await sandbox.runCommand('tail', ['-c', String(LARGEST_TRANSCRIPT_BYTES + 1), path], {
    timeoutMs: LIMIT_MS,
    onStdout: (chunk) => chunks.push(Buffer.from(chunk)),
  });
  if (result.exitCode !== 0) throw unreadable(result, path);
  const bytes = Buffer.concat(chunks);
  const isWhole = bytes.length <= LARGEST_TRANSCRIPT_BYTES;
  return bytes.toString('utf8', isWhole ? 0 : bytes.indexOf('\n') + 1);
}

function unreadable({ stderr, ended, exitCode }: CommandResult, where: string): WhetstoneError {
  const reason = stderr.trim() || (ended === 'exit' ? `exit code ${exitCode}` : ended);
  return new WhetstoneError('agent-transcript-unreadable', `The transcript cannot be read: ${reason}.`, {
    where,
  });
}
