import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CaseRow } from '../record/row.ts';
import { makeProject } from './__fixtures__/project.ts';

test('lines that cannot be read are named, and a resumed run says which cases it pays for again', async () => {
  using project = makeProject({
    tasks: ['one', 'two', 'three'].map((id) => ({ id, prompt: 'Do it.' })),
    agents: { writer: 'echo run >> "$NOTES/runs"; echo done >> README.md' },
  });
  expect(await project.whetstone(['run', '--seed', 's'])).toMatchObject({ exitCode: 0 });
  const { directory } = project.latest();
  const journal = join(directory, 'journal.jsonl');
  const lines = readFileSync(journal, 'utf8').split('\n');
  const finished = (id: string) =>
    lines.findIndex((line) => line.includes('case.finished') && line.includes(`"${id}__`));
  const [newer, broken] = [finished('one'), finished('two')];
  lines[newer] = (lines[newer] ?? '').replace('"schema_version":"1"', '"schema_version":"2"');
  lines[broken] = (lines[broken] ?? '').slice(0, 90);
  writeFileSync(journal, lines.join('\n'));

  const shown = await project.whetstone(['show', 'latest']);
  expect(shown.stdout.replace(/\s+/g, ' ')).toContain(
    `journal.jsonl:${newer + 1} cannot be read (case one__baseline__writer__trial-1): it has a row of schema_version 2`,
  );
  const reported = await project.whetstone(['report', 'latest', '--format', 'csv']);
  expect(reported.stderr).toContain(`${directory}: journal.jsonl:${broken + 1} cannot be read`);
  const one = await project.whetstone(['show', 'latest', 'one']);
  expect(one.stderr).toContain(
    'The row of case one__baseline__writer__trial-1 cannot be read: journal.jsonl:',
  );

  // What follows a line that was cut off does not follow it any more.
  const because = (line: number) =>
    new RegExp(
      `1 case will run again because its line in the journal cannot be read \\((journal\\.jsonl:\\d+, )?journal\\.jsonl:${line + 1}\\)\\.`,
    );
  const planned = await project.whetstone(['run', '--resume', 'latest', '--dry-run']);
  for (const line of [newer, broken]) expect(planned.stdout).toMatch(because(line));
  expect(readFileSync(join(project.notes, 'runs'), 'utf8')).toBe('run\n'.repeat(3));

  const resumed = await project.whetstone(['run', '--resume', 'latest']);
  expect(resumed).toMatchObject({ exitCode: 0 });
  for (const line of [newer, broken]) expect(resumed.stderr).toMatch(because(line));
  expect(resumed.stderr.indexOf('will run again')).toBeLessThan(
    resumed.stderr.indexOf('2 of 3 cases are missing'),
  );
  expect(resumed.stdout).not.toContain('cannot be read');
  expect(readFileSync(join(project.notes, 'runs'), 'utf8')).toBe('run\n'.repeat(5));

  const again = await project.whetstone(['run', '--resume', 'latest']);
  expect(again.stderr).not.toContain('will run again');
});

test('a forged row, a removed one and changed evidence are named, and do not count', async () => {
  using project = makeProject({
    tasks: ['one', 'two'].map((id) => ({ id, prompt: 'Do it.', validation: { commands: ['false'] } })),
  });
  expect(await project.whetstone(['run', '--seed', 's'])).toMatchObject({ exitCode: 1 });
  const { directory, rows } = project.latest();
  const journal = join(directory, 'journal.jsonl');
  const written = readFileSync(journal, 'utf8');
  const lines = written.split('\n');
  const at = lines.findIndex((line) => line.includes('case.finished') && line.includes('"one__'));
  lines[at] = (lines[at] ?? '').replace('"outcome":"failed"', '"outcome":"passed"');
  writeFileSync(journal, lines.join('\n'));
  const id = rows.find(({ task_id }) => task_id === 'two')?.case_id ?? '';
  appendFileSync(join(directory, 'cases', id, 'events.jsonl'), '{}\n');
  writeFileSync(join(directory, 'cases', id, 'model-calls.jsonl'), '{"cost_usd":0}\n');
  const result = join(directory, 'cases', id, 'result.json');
  writeFileSync(result, readFileSync(result, 'utf8').replace('"outcome": "failed"', '"outcome": "passed"'));

  const { stdout, stderr } = await project.whetstone(['report', 'latest', '--json']);
  expect(stderr.split('\n')).toEqual([
    `warning  ${directory}: journal.jsonl:${at + 1} cannot be read (case one__baseline__writer__trial-1): it does not follow the line before it: one of them was changed, moved or removed.`,
    `warning  ${directory}: cases/${id}/result.json does not say what the journal says.`,
    `warning  ${directory}: cases/${id}/events.jsonl is not as it was when the case had finished.`,
    `warning  ${directory}: cases/${id}/model-calls.jsonl is not as it was when the case had finished.`,
    '',
  ]);
  const { cases } = JSON.parse(stdout);
  expect(cases.map((row: CaseRow) => [row.task_id, row.outcome])).toEqual([['two', 'failed']]);
  const shown = await project.whetstone(['show', 'latest', id]);
  expect(shown.stderr).toContain('events.jsonl is not as it was');

  writeFileSync(journal, written.split('\n').toSpliced(at, 1).join('\n'));
  const removed = await project.whetstone(['report', 'latest', '--json']);
  expect(removed.stderr).toContain(`journal.jsonl:${at + 1} cannot be read`);
  const manifest = join(directory, 'manifest.json');
  writeFileSync(journal, written);
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"trials": 1', '"trials": 3'));
  const other = await project.whetstone(['report', 'latest', '--json']);
  expect(other.stderr).toContain('journal.jsonl:1 cannot be read');
});
