import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import { runLayout } from '../record/layout.ts';
import { readRun } from '../record/read-run.ts';
import { failedCommand } from '../report/evidence-files.ts';
import { plainText } from '../report/sanitize.ts';

/** Parts of a case that can be read, and their files. */
export const CASE_PARTS = {
  result: 'result.json',
  prompt: 'prompt.md',
  patch: 'changes.patch',
  events: 'events.jsonl',
  stdout: 'stdout.log',
  stderr: 'stderr.log',
  model_calls: 'model-calls.jsonl',
} as const;

export type CasePart = keyof typeof CASE_PARTS | 'failure';

/** How much of a file one answer has, in bytes. */
export const PART_BYTES = 16_000;

/**
 * A part of a case from an offset on, as plain text. `failure` is the log of the command that failed, its end first to read:
 * there an offset counts from the end. What an agent wrote stays what it is: data.
 * @throws WhetstoneError `case-not-found`
 */
export async function readCasePart(directory: string, id: string, part: CasePart, offset: number) {
  const run = await readRun(directory);
  const planned = run.manifest.case_matrix.map(({ case_id }) => case_id);
  const matches = planned.includes(id) ? [id] : planned.filter((one) => one.startsWith(id));
  const [found] = matches;
  const row = found === undefined ? undefined : run.rows.get(found);
  if (matches.length !== 1 || found === undefined || !row) {
    const meant = didYouMean(id, planned);
    throw new WhetstoneError('case-not-found', `There is no finished case ${JSON.stringify(id)}.`, {
      where: directory,
      hint: meant === undefined ? `Cases: ${planned.slice(0, 8).join(', ')}` : `Did you mean ${meant}?`,
    });
  }
  const base = runLayout(directory).case(found);
  const head = {
    case_id: found,
    ...{ outcome: row.outcome, failure_class: row.failure_class, evidence: row.evidence },
  };
  if (part === 'failure') {
    const failed = failedCommand(row);
    if (!failed) return { ...head, text: 'No command of the verification failed.' };
    const logs = [failed.stdout_path, failed.stderr_path].map((path) => join(base, path));
    const ends = await Promise.all(logs.map((file) => readEnd(file, offset)));
    return {
      ...head,
      command: failed.command,
      exit_code: failed.exit_code,
      stdout: ends[0],
      stderr: ends[1],
    };
  }
  return { ...head, file: CASE_PARTS[part], ...(await readFrom(join(base, CASE_PARTS[part]), offset)) };
}

async function readFrom(file: string, offset: number) {
  const read = await readBytes(file, (size) => Math.min(offset, size));
  if (!read) return { text: null, note: 'The case has no such file.' };
  const next = offset + read.bytes.length;
  return {
    text: plainText(read.bytes.toString('utf8')),
    ...{ bytes: read.size, next_offset: next < read.size ? next : null },
  };
}

async function readEnd(file: string, offset: number): Promise<string> {
  const read = await readBytes(file, (size) => Math.max(0, size - PART_BYTES / 2 - offset));
  return read ? plainText(read.bytes.toString('utf8')) : '';
}

async function readBytes(file: string, startOf: (size: number) => number) {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    const start = startOf(size);
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(Math.min(PART_BYTES, size - start)),
      0,
      undefined,
      start,
    );
    return { bytes: buffer.subarray(0, bytesRead), size };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
