import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { type AgentMetadata, deriveAgentMetadata, type StreamEvent, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { NativeAgentKind } from '../native/native-agents.ts';
import { metadataFacts, type NativeOutput, parseNative } from '../native/parse-native.ts';

/** A file that was read, or why it was not. */
export type Transcript = SessionTranscript | SkippedFile;

/** A session, read from its transcript. */
export type SessionTranscript = {
  status: 'read';
  /** Absolute path. */
  file: string;
  kind: NativeAgentKind;
  /** `transcript`: what the agent kept. `stream`: what it printed, which is one turn. */
  form: NativeOutput['form'];
  /** The agent's own id of the session. Absent if the file does not name it. */
  sessionId?: string;
  /** Number of prompts. */
  turns: number;
  /** Calls of tools and of sub-agents, as far as they are in this file; `null`: it does not show them. */
  toolCalls: number | null;
  /** Of all turns. Absent if the file does not report it for each turn. */
  usage?: Usage;
  /** How the last turn ended. Absent if the file breaks off, or if the agent does not record it. */
  ending?: 'completed' | 'failed' | 'waiting';
  /** Why it failed, in the agent's words. */
  failure?: string;
  /** Everything that happened, in order. Each belongs to the turn `event.turn`, from 0; what has no mapping is `raw`. */
  events: StreamEvent[];
  /** Commands, file changes, tools, models: the same shape for every agent. */
  metadata: AgentMetadata;
};

/** A file or folder that is not the transcript of a known agent, or cannot be read. */
export type SkippedFile = { status: 'skipped'; file: string; reason: string };

/**
 * Reads what coding agents kept of their sessions, for example all of `~/.codex/sessions` or `~/.claude/projects`: one
 * transcript for each file, in the order of their paths, held in memory one at a time. A sub-agent whose transcript is a
 * file of its own is a session of its own.
 *
 * A foreign, broken or unreadable file never throws: it is reported as `skipped`.
 *
 * @param source A folder, of which all `.jsonl` and `.json` files are read, subfolders included (links are not
 * followed); or a list of files, of which each is read whatever its name.
 * @param options.kind The agent that wrote them. Default: detected per file, from its content.
 * @throws WhetstoneError `file-not-found` for a missing folder, `agent-kind-unknown` for an unknown `kind`
 */
export async function* readTranscripts(
  source: string | Iterable<string>,
  { kind }: { kind?: string } = {},
): AsyncGenerator<Transcript, void, undefined> {
  const files = typeof source === 'string' ? filesBelow(await existingFolder(source)) : source;
  for await (const found of files) {
    const isSkipped = typeof found !== 'string';
    yield isSkipped ? found : await readTranscript(resolve(found), kind);
  }
}

async function existingFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory()) return resolve(folder);
  throw new WhetstoneError('file-not-found', `${folder} is not a folder.`, {
    hint: 'Name a folder with transcripts, or pass a list of files.',
  });
}

async function* filesBelow(folder: string): AsyncGenerator<string | SkippedFile> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: Error) => error);
  if (entries instanceof Error) {
    yield { status: 'skipped', file: folder, reason: entries.message };
    return;
  }
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile() && ['.jsonl', '.json'].includes(extname(entry.name))) yield path;
  }
}

async function readTranscript(file: string, kind: string | undefined): Promise<Transcript> {
  const events: StreamEvent[] = [];
  try {
    const output = await parseNative(kind, chunksOf(file), { emit: (event) => events.push(event) });
    return sessionOf(file, output, events);
  } catch (error) {
    const isForeign = error instanceof WhetstoneError && error.code === 'agent-kind-wrong';
    if (kind !== undefined && error instanceof WhetstoneError && !isForeign) throw error;
    return { status: 'skipped', file, reason: messageOf(error) };
  }
}

/** Opened when it is read. */
async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file);
}

function sessionOf(file: string, output: NativeOutput, events: StreamEvent[]): Transcript {
  const { kind, form, ending, failure } = output;
  const metadata = deriveAgentMetadata(events, metadataFacts(output));
  const turns = 1 + events.reduce((latest, { turn = 0 }) => Math.max(latest, turn), 0);
  const seen = events.filter(({ type }) => type === 'action.called').length;
  const { toolCallsByName: unseen } = output;
  const toolCalls =
    unseen === null ? null : Object.values(unseen ?? {}).reduce((sum, one) => sum + one, seen);
  return {
    ...{ status: 'read', file, kind, form, turns, toolCalls, events, metadata },
    ...present({
      sessionId: metadata.sessionId,
      usage: metadata.usage ?? (turns === 1 ? output.usage : undefined),
      ending,
      failure,
    }),
  };
}
