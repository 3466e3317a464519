import { writeFileSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { codeOf } from '@whetstone/errors';
import { type JsonValue, parseJson } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { z } from 'zod';
import { type Chain, openChain } from './chain.ts';
import { earlierAttemptsSchema, keptRowSchema } from './row.ts';

/** `journal.jsonl`: one JSON object per line, append-only. The source of truth; a crash loses at most its last line. */
export const journalEntrySchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('run.started'),
    at: z.string(),
    run_id: z.string(),
    case_count: z.number().int(),
  }),
  z.object({ type: z.literal('run.resumed'), at: z.string(), missing: z.number().int() }),
  z.object({
    type: z.literal('case.started'),
    at: z.string(),
    case_id: z.string(),
    /** What the attempts of the case before this one used. Absent: there was none, or nothing is known. */
    earlier: earlierAttemptsSchema.optional(),
    /** The last calls of the ledgers that the attempt before left, which this attempt deletes: `earlier` has them. */
    counted_calls: z.array(z.string()).optional(),
  }),
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
  /** Resolves when the operating system has the lines; with `durable`, when they are on the disk. */
  append(
    entries: NewJournalEntry | readonly NewJournalEntry[],
    options?: { durable?: boolean },
  ): Promise<void>;
}

/**
 * Opens a journal for appending. Ends an incomplete last line, left by a crash, so that it spoils no other line. `start`: the
 * manifest, as it is stored, which the first line follows; `undefined`: the lines are not chained.
 */
export async function openJournal(file: string, start?: string): Promise<Journal> {
  const handle = await open(file, 'a+');
  await closeTornLine(handle);
  const chain = start === undefined ? undefined : openChain(start);
  if (chain) {
    for (const { text } of linesOf(await readFile(file, 'utf8'))) {
      if (parseJson(text) !== undefined) chain.problem(text); // a line that a crash cut off is not part of the chain
    }
  }
  let last: Promise<unknown> = Promise.resolve();
  return {
    append(entries, { durable = false } = {}) {
      const at = new Date().toISOString();
      const written = last.then(async () => {
        const lines = [entries].flat().map((entry) => ({ ...entry, at }));
        const texts = lines.map((line) => `${chain ? chain.add(line) : JSON.stringify(line)}\n`);
        writeFileSync(handle.fd, texts.join(''));
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

/** A line of a journal that this version of Whetstone cannot use. */
export type UnreadLine = {
  /** Counted from 1. */
  line: number;
  /** What is wrong with it, as the rest of a sentence: `is not complete JSON`. */
  what: string;
  /** The case that it is about, where that can be seen. */
  caseId?: string;
  /** It could be read, but it does not follow the line before it. No later row of its case explains that. */
  isMisfit?: true;
};

/** A line of a journal: an entry, or what keeps it from being one. */
export type JournalLine = { entry: JournalEntry } | { unread: UnreadLine };

/** The lines of a journal, in order. None without a file. `start` as for `openJournal`. */
export async function readJournal(file: string, start?: string): Promise<JournalLine[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return ''; // a run that was killed before its first line
    throw error;
  });
  const chain = start === undefined ? undefined : openChain(start);
  let isAfterDamage = false;
  return linesOf(text).map(({ text: line, number }) => {
    const value = parseJson(line);
    const parsed = parseLine({ text: line, value, number }, chain);
    // A damaged line is named itself.
    if ('unread' in parsed && isAfterDamage) delete parsed.unread.isMisfit;
    isAfterDamage = value === undefined;
    return parsed;
  });
}

const linesOf = (text: string) =>
  text.split('\n').flatMap((line, index) => (line === '' ? [] : [{ text: line, number: index + 1 }]));

const KNOWN_TYPES: readonly string[] = journalEntrySchema.options.map(({ shape }) => shape.type.value);

/** `value`: of the text; `undefined`: the text is not JSON. */
function parseLine(
  { text, value, number: line }: { text: string; value: JsonValue | undefined; number: number },
  chain: Chain | undefined,
): JournalLine {
  // A line that a crash cut off is not part of the chain.
  const misfit = value === undefined ? undefined : chain?.problem(text);
  const parsed = journalEntrySchema.safeParse(value);
  if (parsed.success && misfit === undefined) return { entry: parsed.data };
  const caseId = /"case_id":"([^"\\]+)"/.exec(text)?.[1];
  const what = parsed.error ? problemOf(value, parsed.error) : (misfit ?? '');
  return { unread: { line, what, ...present({ caseId }), ...(parsed.success && { isMisfit: true }) } };
}

function problemOf(value: unknown, { issues: [issue] }: z.ZodError): string {
  if (value === undefined) return 'is not complete JSON: a crash cut it off, or the file is damaged';
  const { type, row } =
    z.object({ type: z.unknown().optional(), row: z.unknown().optional() }).safeParse(value).data ?? {};
  if (typeof type !== 'string') return 'is not an entry of a journal';
  if (!KNOWN_TYPES.includes(type))
    return `has the type ${JSON.stringify(type)} of a newer version of Whetstone`;
  const version = z.object({ schema_version: z.string() }).safeParse(row).data?.schema_version;
  const known = keptRowSchema.shape.schema_version.value;
  if (version !== undefined && version !== known) {
    return `has a row of schema_version ${version}; this version of Whetstone reads ${known}`;
  }
  return `does not fit: ${issue?.path.join('.')}: ${issue?.message}`;
}
