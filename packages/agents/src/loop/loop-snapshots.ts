import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import type { SessionSnapshot } from '@whetstone/loop';

/**
 * Stores the sessions of our loop between two turns, one file per session in the adapter's own folder
 * (`AttemptFiles.stateDir`). A restarted harness can resume them. They are not in the workspace and not in the home.
 */
export async function keepSnapshot(folder: string, snapshot: SessionSnapshot): Promise<void> {
  const file = fileOf(folder, snapshot.id);
  // If the harness dies while it writes, the file of the turn before stays.
  await writeFile(`${file}.new`, JSON.stringify(snapshot), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** @throws WhetstoneError `agent-session-missing` when the session does not exist, or its file is not a snapshot. */
export async function readSnapshot(folder: string, id: string): Promise<unknown> {
  try {
    if (!/^[\w-]+$/.test(id)) throw new Error('this is not a session id of the loop');
    const snapshot: unknown = JSON.parse(await readFile(fileOf(folder, id), 'utf8'));
    return snapshot;
  } catch (cause) {
    throw sessionLost(id, cause);
  }
}

export function sessionLost(id: string, cause: unknown): WhetstoneError {
  return new WhetstoneError(
    'agent-session-missing',
    `Session ${id} of the loop cannot be resumed: ${messageOf(cause)}.`,
    {
      cause,
      hint: 'A session ends with its attempt. Begin a new session with `isNew: true`.',
    },
  );
}

const fileOf = (folder: string, id: string): string => join(folder, `session-${id}.json`);
