import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { manifestOf } from './__fixtures__/records.ts';
import { interruptedCalls } from './read-calls.ts';
import { readRun } from './read-run.ts';
import { createRunRecord } from './run-record.ts';

test('the calls of an attempt count once, wherever the program was killed while the next one started', async () => {
  const output = await mkdtemp(join(tmpdir(), 'calls-'));
  try {
    await using record = await createRunRecord(output, manifestOf(['a']));
    const files = await record.startCase('a');
    const uncounted = async () => {
      const started = (await readRun(record.directory)).interrupted.get('a');
      return started && interruptedCalls(files, started).ofAgent.map(({ id }) => id);
    };
    const first = '{"id":"first"}\n{"id":"last"}\n';
    await writeFile(files.modelCalls, first);
    expect(await uncounted()).toEqual(['first', 'last']);

    await record.startCase('a');
    expect(await uncounted()).toEqual([]);
    await writeFile(files.modelCalls, first); // killed before the files were deleted
    expect(await uncounted()).toEqual([]);
    await writeFile(files.modelCalls, '{"id":"other"}\n');
    expect(await uncounted()).toEqual(['other']);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
});
