import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { caseLayout, runLayout } from '../../record/layout.ts';
import { readRun } from '../../record/read-run.ts';
import { startSampleRun } from '../__fixtures__/run-directories.ts';
import { followActivity } from './activity.ts';
import { growingLines } from './growing-lines.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'activity-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a running case says what its agent does, and counts calls, tokens and cost so far', async () => {
  const { record, rows } = await startSampleRun(folder, 'live');
  await using _ = record;
  const directory = join(folder, 'live');
  const [first, second] = rows;
  if (first === undefined || second === undefined) throw new Error('The sample has no rows.');
  await record.startCase(first.case_id);
  await record.finishCase({ ...first, cost_usd: 0.25, total_tokens: 1000 });
  await record.startCase(second.case_id);
  const files = caseLayout(runLayout(directory).case(second.case_id));
  const follower = followActivity();
  const idle = await follower.next(await readRun(directory));
  expect(idle).toMatchObject({
    finished: 1,
    cost_usd: 0.25,
    cost_unknown: 1,
    tokens: 1000,
    tokens_unknown: 1,
  });
  expect(idle.running).toMatchObject([{ case_id: second.case_id, doing: null, model_calls: null }]);

  const called = {
    type: 'action.called',
    at: '2026-01-01T00:00:00Z',
    name: 'shell',
    input: { command: 'npm test' },
  };
  await writeFile(files.events, `${JSON.stringify(called)}\n{"type":"mess`);
  const usage = { inputTokens: 100, cacheReadTokens: 20, outputTokens: 3 };
  await writeFile(files.modelCalls, `${JSON.stringify({ usage, cost_usd: 0.5 })}\n`);
  const busy = await follower.next(await readRun(directory));
  expect(busy).toMatchObject({ cost_usd: 0.75, cost_unknown: 0, tokens: 1123 });
  expect(busy.running).toMatchObject([
    {
      doing: 'shell npm test',
      at: '2026-01-01T00:00:00Z',
      tool_calls: 1,
      model_calls: 1,
      tokens: 123,
      cost_usd: 0.5,
    },
  ]);

  await appendFile(files.events, 'age","role":"assistant","text":"Done."}\nnot json\n');
  const [last] = (await follower.next(await readRun(directory))).running;
  expect(last).toMatchObject({ doing: 'says: Done.', tool_calls: 1, model_calls: 1 });
});

test('a file that grows is read once, and a line that is not whole waits', async () => {
  const file = join(folder, 'x.jsonl');
  const lines = growingLines(file);
  expect(await lines.next()).toEqual({ values: [], isCut: false });
  await writeFile(file, '{"a":1}\n{"a"');
  expect((await lines.next()).values).toEqual([{ a: 1 }]);
  await appendFile(file, ':2}\n[]\n{"a":3}\n');
  expect((await lines.next()).values).toEqual([{ a: 2 }, { a: 3 }]);
  await appendFile(file, `${' '.repeat(5 * 2 ** 20)}\n{"a":4}\n`);
  expect(await lines.next()).toEqual({ values: [{ a: 4 }], isCut: true });
});
