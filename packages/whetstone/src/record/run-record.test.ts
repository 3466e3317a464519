import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { manifestOf, rowOf } from './__fixtures__/records.ts';
import { findRun } from './find-run.ts';
import { runLayout } from './layout.ts';
import { readRun, rowsInOrder } from './read-run.ts';
import { createRunRecord, resumeRunRecord } from './run-record.ts';

let output: string;
beforeEach(async () => {
  output = await mkdtemp(join(tmpdir(), 'record-'));
});
afterEach(() => rm(output, { recursive: true, force: true }));

const manifest = manifestOf(['a', 'b', 'c']);

describe('a run directory', () => {
  test('holds every finished case at every moment, in planned order', async () => {
    await using record = await createRunRecord(output, manifest);
    for (const id of ['c', 'a']) {
      await record.startCase(id);
      await record.finishCase(rowOf(id));
    }
    const stored = await readRun(record.directory);
    expect(rowsInOrder(stored).map((row) => row.case_id)).toEqual(['a', 'c']);
  });

  test('results.jsonl has one row per case, in planned order', async () => {
    await using record = await createRunRecord(output, manifest);
    for (const id of ['b', 'c', 'a']) {
      await record.startCase(id);
      await record.finishCase(rowOf(id));
    }
    await record.finish('finished');
    const lines = (await readFile(runLayout(record.directory).results, 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).case_id)).toEqual(['a', 'b', 'c']);
  });

  test('an incomplete last line loses only that line, and the next line is whole', async () => {
    const record = await createRunRecord(output, manifest);
    await record.startCase('a');
    await record.finishCase(rowOf('a'));
    await record[Symbol.asyncDispose]();
    await appendFile(
      runLayout(record.directory).journal,
      '{"type":"case.finished","case_id":"b","row":{"sch',
    );

    const stored = await readRun(record.directory);
    expect(stored.unread).toMatchObject([
      { line: 4, caseId: 'b', what: expect.stringContaining('not complete JSON') },
    ]);
    expect(stored.manifest.notes).toEqual([
      expect.stringContaining('journal.jsonl:4 cannot be read (case b)'),
    ]);
    await using resumed = await resumeRunRecord(record.directory);
    expect([...resumed.rows.keys()]).toEqual(['a']);
    await resumed.startCase('b');
    await resumed.finishCase(rowOf('b'));
    const after = await readRun(record.directory);
    expect([...after.rows.keys()]).toEqual(['a', 'b']);
    expect(after.unread).toEqual([]);
  });

  test.each([
    ['{"type":"case.scored","case_id":"b"}', 'has the type "case.scored" of a newer version'],
    ['{"type":"case.finished","case_id":"b","at":"","row":{"schema_version":"2"}}', 'schema_version 2'],
    ['{"type":"case.finished","case_id":"b","at":"","row":{"schema_version":"1"}}', 'does not fit: row.'],
    ['[1]', 'is not an entry of a journal'],
  ])('names a line that this version cannot read: %s', async (line, what) => {
    await using record = await createRunRecord(output, manifest);
    await appendFile(runLayout(record.directory).journal, `${line}\n`);
    const { unread } = await readRun(record.directory);
    expect(unread).toMatchObject([{ line: 2, what: expect.stringContaining(what) }]);
  });

  test('a case that starts again starts empty', async () => {
    await using record = await createRunRecord(output, manifest);
    const files = await record.startCase('a');
    await writeFile(files.stdout, 'from the first try');
    await record.startCase('a');
    expect(await readdir(runLayout(record.directory).case('a'))).toEqual([]);
  });

  test('is held by one process at a time', async () => {
    await using record = await createRunRecord(output, manifest);
    await expect(resumeRunRecord(record.directory)).rejects.toMatchObject({
      code: 'run-locked',
      exitCode: 2,
    });
  });

  test('the lock of another process holds, and ends with it, however it ends', async () => {
    const record = await createRunRecord(output, manifest);
    await record[Symbol.asyncDispose]();
    const { lock } = runLayout(record.directory);
    const hold = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('BEGIN EXCLUSIVE'); console.log(); setInterval(() => {}, 1e6)`;
    const holder = spawn(process.execPath, ['-e', hold, lock], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(holder.stdout, 'data');
    await expect(resumeRunRecord(record.directory)).rejects.toMatchObject({ code: 'run-locked' });
    holder.kill('SIGKILL');
    await once(holder, 'close');
    await using resumed = await resumeRunRecord(record.directory);
    expect(resumed.manifest.run_id).toBe(manifest.run_id);
  });

  test('a lock that is none says how to clear it', async () => {
    const record = await createRunRecord(output, manifest);
    await record[Symbol.asyncDispose]();
    await writeFile(runLayout(record.directory).lock, '999999999\n');
    await expect(resumeRunRecord(record.directory)).rejects.toMatchObject({
      code: 'run-locked',
      hint: expect.stringContaining('remove the file'),
    });
  });

  test.runIf(process.platform === 'linux')(
    'a folder that the system refuses to make is an error, at once',
    { tags: 'linux' },
    async () => {
      await expect(createRunRecord('/proc/nowhere', manifest)).rejects.toMatchObject({
        code: 'output-unwritable',
      });
    },
  );

  test('a folder that cannot be written is a typed error with a hint', async () => {
    const blocked = join(output, 'file');
    await writeFile(blocked, '');
    await expect(createRunRecord(join(blocked, 'runs'), manifest)).rejects.toMatchObject({
      code: 'output-unwritable',
      exitCode: 2,
      hint: expect.stringContaining('output_dir'),
    });
  });
});

test.runIf(process.platform === 'linux')(
  'a run in a folder that cannot be written is not said to be held by another process',
  { tags: 'linux' },
  async () => {
    const record = await createRunRecord(output, manifest);
    await record[Symbol.asyncDispose]();
    const { directory } = record;
    await chmod(output, 0o755);
    await chmod(directory, 0o555);
    const user = process.geteuid?.() ?? 0;
    // Root may write anywhere.
    if (user === 0) process.seteuid?.(65534);
    try {
      await expect(resumeRunRecord(directory)).rejects.toMatchObject({
        code: 'record-lost',
        message: 'The run directory can no longer be written (EACCES).',
      });
    } finally {
      process.seteuid?.(user);
      await chmod(directory, 0o755);
    }
  },
);

describe('finding a run', () => {
  test('by path, by id, by the beginning of an id, and the latest', async () => {
    await using record = await createRunRecord(output, manifest);
    expect(await findRun(record.directory, '/nowhere')).toBe(record.directory);
    for (const reference of [manifest.run_id, manifest.run_id.slice(0, 8), 'latest']) {
      expect(await findRun(reference, output)).toBe(record.directory);
    }
  });

  test('lists the runs that are there when it finds none', async () => {
    await using record = await createRunRecord(output, manifest);
    await expect(findRun('19990101', output)).rejects.toMatchObject({
      code: 'run-not-found',
      hint: expect.stringContaining(record.manifest.run_id),
    });
    await expect(findRun('latst', output)).rejects.toMatchObject({
      hint: expect.stringContaining('Did you mean latest?'),
    });
  });

  test('a folder that is not a run is refused', async () => {
    await expect(readRun(output)).rejects.toMatchObject({ code: 'run-not-found', exitCode: 2 });
    await expect(findRun(output, output)).rejects.toMatchObject({
      code: 'run-not-found',
      message: `${output} is not a run directory: it has no manifest.json.`,
    });
  });
});
