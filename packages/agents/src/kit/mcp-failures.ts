import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { JsonValue, StreamEvent } from '@whetstone/events';
import { filesBelow, readKeptFile, type Sandbox } from '@whetstone/sandbox';
import { objectsIn, textIn } from './fields.ts';
import { LINE_LIMIT_BYTES, LineReader } from './line-reader.ts';
import { textTail } from './text-tail.ts';

/** How agents say that a server is not there. One that is still connecting, or disabled, has not failed. */
const NOT_STARTED: ReadonlySet<unknown> = new Set(['failed', 'disconnected', 'needs-auth', 'error']);

/** An error for each MCP server that an agent lists as not started. A row would otherwise look as if it had been there. */
export const mcpFailures = (servers: JsonValue | undefined): StreamEvent[] =>
  objectsIn(servers).flatMap(({ name, status, error }) =>
    typeof name === 'string' && NOT_STARTED.has(status)
      ? [notStarted(name, textIn(error) ?? `${status}`)]
      : [],
  );

/** Of the reason, bytes: its end, because what an agent puts around it comes first. */
const REASON_BYTES = 500;

export const notStarted = (name: string, reason: string): StreamEvent => ({
  type: 'error',
  message: `The MCP server ${name} did not start: ${textTail(reason, REASON_BYTES)}`,
});

/** Where an agent writes that an MCP server did not start, if its stream does not say so. */
export type McpLog = {
  /** A file or a folder of files below its home. Absent: its standard error. */
  file?: string;
  /** What only such a line has. */
  mark: string;
  /** Of such a line: the groups `names`, separated by commas, and `why`, if the line gives a reason. */
  failure: RegExp;
};

/**
 * Reads the log of one turn, whose begin is now. The result resolves after the turn with an error for each server that
 * did not start.
 */
export async function openMcpLog(
  { file, mark, failure }: McpLog,
  { sandbox, stderrFile }: { sandbox: Sandbox; stderrFile: string },
): Promise<() => Promise<StreamEvent[]>> {
  const startedAt = new Date().toISOString();
  const start = file === undefined ? await sizeOf(stderrFile) : 0;
  return async () => {
    const lines =
      file === undefined ? linesFrom(stderrFile, start, mark) : linesAtHome(sandbox, file, mark, startedAt);
    const reasons = new Map<string, string>();
    for await (const line of lines) {
      const { names, why = 'no reason was given' } = failure.exec(line)?.groups ?? {};
      for (const name of names?.split(/,\s*/) ?? []) if (!reasons.has(name)) reasons.set(name, why);
    }
    return [...reasons].map(([name, why]) => notStarted(name, why));
  };
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

async function* linesFrom(file: string, start: number, mark: string): AsyncGenerator<string> {
  if ((await sizeOf(file)) <= start) return;
  for await (const line of createInterface({ input: createReadStream(file, { start }) })) {
    if (line.includes(mark)) yield line;
  }
}

/** The lines of this turn: a log at home is that of the session, and has a time in each line. */
async function* linesAtHome(
  sandbox: Sandbox,
  file: string,
  mark: string,
  startedAt: string,
): AsyncGenerator<string> {
  const home = sandbox.hostPath(sandbox.home);
  const found: string[] = [];
  const take = (bytes: Buffer | 'too-long'): void => {
    if (bytes === 'too-long' || found.length >= MOST_LINES || !bytes.includes(mark)) return;
    const line = bytes.toString();
    const at = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(line)?.[0];
    if (at !== undefined && at >= startedAt) found.push(line);
  };
  const signal = AbortSignal.timeout(LOG_LIMIT_MS);
  const read = async (path: string): Promise<void> => {
    const lines = new LineReader(take, LINE_LIMIT_BYTES, '\n');
    for await (const chunk of readKeptFile(home, path, { signal })) lines.push(chunk);
    lines.end();
  };
  // It is a file or a folder. Of what cannot be read, nobody can say why a server did not start.
  await read(join(home, file)).catch(() => undefined);
  try {
    for await (const path of filesBelow(home, file)) await read(path);
  } catch {
    // As above.
  }
  yield* found;
}

/** Of one turn. A server that did not start has one or two. */
const MOST_LINES = 1000;
const LOG_LIMIT_MS = 10_000;
