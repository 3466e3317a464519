import { type FileHandle, open, readFile } from 'node:fs/promises';
import { codeOf } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { z } from 'zod';
import { keptRowSchema } from './row.ts';

/** `journal.jsonl`: one JSON object per line, append-only. The source of truth; a crash loses at most its last line. */
export const journalEntrySchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('run.started'),
    at: z.string(),
    run_id: z.string(),
    case_count: z.number().int(),
  }),
  z.object({ type: z.literal('run.resumed'), at: z.string(), missing: z.number().int() }),
  z.object({ type: z.literal('case.started'), at: z.string(), case_id: z.string() }),
  z.object({
    type: z.literal('case.retried'),
    at: z.string(),
    case_id: z.string(),
    class: z.string(),
    evidence: z.string(),
  }),
  z.object({ type: z.literal('case.finished'), at: z.string(), case_id: z.string(), row: keptRowSchema }),
  z.object({ type: z.literal('run.interrupted'), at: z.string(), finished: z.number().int() }),
  z.object({ type: z.literal('run.finished'), at: z.string(), finished: z.number().int() }),
]);

export type JournalEntry = z.infer<typeof journalEntrySchema>;

/** An entry without its time. The journal adds the time. */
export type NewJournalEntry = JournalEntry extends infer Entry
  ? Entry extends JournalEntry
    ? Omit<Entry, 'at'>
    : never
  : never;

export interface Journal extends AsyncDisposable {
  /** Resolves when the operating system has the line; with `durable`, when the line is on the disk. */
  append(entry: NewJournalEntry, options?: { durable?: boolean }): Promise<void>;
}

/** Opens a journal for appending. Ends an incomplete last line, left by a crash, so that it spoils no other line. */
export async function openJournal(file: string): Promise<Journal> {
  const handle = await open(file, 'a+');
  await closeTornLine(handle);
  let last: Promise<unknown> = Promise.resolve();
  return {
    append(entry, { durable = false } = {}) {
      const line = `${JSON.stringify({ ...entry, at: new Date().toISOString() })}\n`;
      const written = last.then(async () => {
        await handle.appendFile(line);
        if (durable) await handle.datasync();
      });
      last = written.catch(() => undefined);
      return written;
    },
    async [Symbol.asyncDispose]() {
      await last;
      await handle.close();
    },
  };
}

async function closeTornLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  if (size === 0) return;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer.toString() !== '\n') await handle.appendFile('\n');
}

/** The entries of a journal, in order, without incomplete lines and unknown types. None without a file. */
export async function readJournal(file: string): Promise<JournalEntry[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return ''; // a run that was killed before its first line
    throw error;
  });
  return text.split('\n').flatMap((line) => {
    const parsed = journalEntrySchema.safeParse(parseJson(line));
    return parsed.success ? [parsed.data] : [];
  });
}
