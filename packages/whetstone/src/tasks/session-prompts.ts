import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, posix, relative } from 'node:path';
import { ownTranscripts, readTranscripts } from '@whetstone/agents';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { isUnder, type Mask } from '@whetstone/sandbox';
import type { HistoryCommit } from './scan-history.ts';
import type { StatementSource } from './statement.ts';

/** A turn of a session that a user had with an agent. */
export type SessionTurn = {
  session: string;
  /** Milliseconds since 1970. */
  at: number;
  prompt: string;
  /** The folder of the repository, absolute, as the session may write it. */
  roots: readonly string[];
  /** Where the agent worked, from the root of the repository. Absent where its session does not say. */
  from?: string;
  /** The paths and commands that the agent used, as text to search in. */
  touched: string;
};

/** How long before its commit a prompt can be, in milliseconds. */
const LONGEST = 3 * 86_400_000;

/**
 * Reads the turns of all sessions in folders, or of the files of a list, except sessions that worked outside of `workTree`. A
 * file that is not a session is passed over. `mask` is applied to the prompts.
 */
export async function readSessionTurns(
  sources: readonly (string | string[])[],
  { workTree, mask }: { workTree: string; mask: Mask },
): Promise<SessionTurn[]> {
  const turns: SessionTurn[] = [];
  const root = realPath(workTree);
  for (const source of sources) {
    for await (const transcript of readTranscripts(source)) {
      if (transcript.status !== 'read') continue;
      const { workingDir } = transcript.metadata;
      const from = workingDir === undefined ? undefined : relative(root, realPath(workingDir));
      if (from !== undefined && !isUnder(root, join(root, from))) continue;
      const place = { roots: [...new Set([workTree, root])], ...present({ from }) };
      const session = transcript.sessionId ?? transcript.file;
      for (const events of Map.groupBy(transcript.events, ({ turn = 0 }) => turn).values()) {
        const own = turnOf(session, events);
        turns.push(...own.map((turn) => ({ ...turn, ...place, prompt: mask.text(turn.prompt) })));
      }
    }
  }
  return turns.sort((a, b) => a.at - b.at);
}

/** How much of a session is looked at for the folder where it ran, in bytes. */
const HEAD = 64 * 1024;

/**
 * The files of the sessions that agents of this machine have kept of work in a folder (absolute), from where each agent keeps
 * them. A session names its folder near its beginning; Gemini writes the SHA-256 of its path.
 */
export async function sessionsIn(workTree: string, environment: NodeJS.ProcessEnv): Promise<string[]> {
  const folders = [...new Set([workTree, realPath(workTree)])];
  const marks = folders.flatMap((folder) => [
    ...[`"${folder}"`, `"${folder}/`],
    createHash('sha256').update(folder).digest('hex'),
  ]);
  const files: string[] = [];
  for await (const file of ownTranscripts(environment)) {
    const head = await headOf(file);
    if (marks.some((mark) => head.includes(mark))) files.push(file);
  }
  return files;
}

async function headOf(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  return buffer.toString('utf8', 0, bytesRead);
}

function turnOf(session: string, events: readonly StreamEvent[]): Omit<SessionTurn, 'roots'>[] {
  const said = events.filter(
    (event) => event.type === 'message' && event.role === 'user' && !event.parentCallId,
  );
  const texts = said.flatMap((event) => (event.type === 'message' ? event.text.trim() : []));
  // Agents put what they find around them into messages of the user.
  const prompt = texts.filter((text) => !text.startsWith('<')).join('\n\n');
  const at = Date.parse(events.find((event) => event.at !== undefined)?.at ?? '');
  if (prompt === '' || Number.isNaN(at)) return [];
  const touched = events.flatMap((event) => {
    if (event.type === 'file.changed') return event.path;
    return event.type === 'action.called' ? textsIn(event.input) : [];
  });
  return [{ session, at, prompt, touched: touched.join('\n') }];
}

/** The strings in a value, however deep. */
const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsIn)
      : [];

/** Without links; as it is where it is not there any more. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** Whether a turn names a path of the repository, from its root or from where the agent worked. */
function names({ roots, from, touched }: SessionTurn, path: string): boolean {
  const own = from === undefined ? [] : [posix.relative(from, path)];
  const written = [...roots.map((root) => join(root, path)), ...own].map((one) =>
    one.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
  );
  return new RegExp(`(?<![\\w./-])(?:\\./)?(?:${written.join('|')})(?![\\w-]|[./]\\w)`).test(touched);
}

/**
 * The prompts of the sessions that led to a commit: between the commit before it and itself, up to the last turn that
 * touched one of its sources. At most one source per session.
 */
export function promptsBefore(commit: HistoryCommit, turns: readonly SessionTurn[]): StatementSource[] {
  const end = Date.parse(commit.date);
  const start = Math.max(
    end - LONGEST,
    commit.previousDate === undefined ? 0 : Date.parse(commit.previousDate),
  );
  const within = turns.filter(({ at }) => at > start && at <= end);
  const sources = commit.files.filter(({ kind }) => kind === 'source').map(({ path }) => path);
  return [...Map.groupBy(within, ({ session }) => session)].flatMap(([session, own]): StatementSource[] => {
    const last = own.findLastIndex((turn) => sources.some((path) => names(turn, path)));
    if (last === -1) return [];
    const text = own.slice(0, last + 1).map(({ prompt }) => prompt);
    return [{ grade: 'session', text: text.join('\n\n'), source: `session ${session}` }];
  });
}
