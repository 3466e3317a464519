import { readTranscripts } from '@whetstone/agents';
import type { StreamEvent } from '@whetstone/events';
import type { HistoryCommit } from './scan-history.ts';
import type { StatementSource } from './statement.ts';

/** A turn of a session that a user had with an agent. */
export type SessionTurn = {
  session: string;
  /** Milliseconds since 1970. */
  at: number;
  prompt: string;
  /** The paths and commands that the agent used, as text to search in. */
  touched: string;
};

/** How long before its commit a prompt can be, in milliseconds. */
const LONGEST = 3 * 86_400_000;

/** Reads the turns of all sessions in folders where agents keep them. A file that is not a session is passed over. */
export async function readSessionTurns(folders: readonly string[]): Promise<SessionTurn[]> {
  const turns: SessionTurn[] = [];
  for (const folder of folders) {
    for await (const transcript of readTranscripts(folder)) {
      if (transcript.status !== 'read') continue;
      const session = transcript.sessionId ?? transcript.file;
      for (const events of Map.groupBy(transcript.events, ({ turn = 0 }) => turn).values()) {
        turns.push(...turnOf(session, events));
      }
    }
  }
  return turns.sort((a, b) => a.at - b.at);
}

function turnOf(session: string, events: readonly StreamEvent[]): SessionTurn[] {
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
    return event.type === 'action.called' ? JSON.stringify(event.input) : [];
  });
  return [{ session, at, prompt, touched: touched.join('\n') }];
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
    const last = own.findLastIndex(({ touched }) => sources.some((path) => touched.includes(path)));
    if (last === -1) return [];
    const text = own.slice(0, last + 1).map(({ prompt }) => prompt);
    return [{ grade: 'session', text: text.join('\n\n'), source: `session ${session}` }];
  });
}
