import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { WhetstoneError } from '@whetstone/errors';
import { TASK_FILE, taskFoldersIn } from '../config/read-task-file.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { keepTask, type MinedTask, readMinedTask } from '../tasks/mined-task.ts';
import { TASK_PARTS } from '../tasks/write-task.ts';
import { git } from '../workspace/git.ts';
import type { Streams } from './streams.ts';

/** Walks through the tasks of a folder that nobody has kept yet. With `--json`, and without a terminal, only shows them. */
export async function tasksReviewCommand(
  folder: string,
  options: { all?: boolean; json?: boolean },
  { stdin, stdout, stderr }: Streams,
): Promise<number> {
  const tasks = await Promise.all(taskFoldersIn(resolve(folder)).map(readMinedTask));
  const waiting = options.all ? tasks : tasks.filter(({ provenance }) => provenance?.kept === undefined);
  if (options.json) {
    stdout.write(escapedJson(waiting.map(({ task, ...one }) => ({ ...one, prompt: task.prompt }))));
    return 0;
  }
  if (!stdin.isTTY) {
    for (const [index, task] of waiting.entries()) {
      stdout.write(`${await shown(task, index, waiting.length)}\n`);
    }
    stdout.write(`${counted(waiting.length, 'task')} to review. On a terminal you are asked about each.\n`);
    return 0;
  }
  const counts = { kept: 0, dropped: 0 };
  for (const [index, one] of waiting.entries()) {
    let task = one;
    for (;;) {
      stderr.write(`${await shown(task, index, waiting.length)}\n`);
      const answer = await ask('Keep, edit, drop, show the answer, later or quit? [k/e/d/s/l/q] ', {
        stdin,
        stderr,
      });
      if (answer === 'e') {
        await edit(task);
        task = (await readAgain(task, { stderr })) ?? task;
      } else if (answer === 's') stderr.write(`\n${printable(task.goldPatch)}\n`);
      else if (answer === 'k') {
        const valid = await readAgain(task, { stderr });
        if (!valid) continue;
        await keepTask(valid, new Date());
        counts.kept += 1;
      } else if (answer === 'd') {
        await rm(task.folder, { recursive: true });
        counts.dropped += 1;
      }
      if (['k', 'd', 'l', 'q', ''].includes(answer)) {
        if (answer === 'q' || answer === '') return finish(counts, waiting.length, stdout);
        break;
      }
    }
  }
  return finish(counts, waiting.length, stdout);
}

function finish(
  { kept, dropped }: { kept: number; dropped: number },
  all: number,
  stdout: Streams['stdout'],
): 0 {
  stdout.write(`${kept} kept, ${dropped} dropped, ${all - kept - dropped} left for later\n`);
  return 0;
}

/** What a reviewer needs to decide. Texts of the repository have no control characters here. */
async function shown(
  { folder, id, task, provenance }: MinedTask,
  index: number,
  all: number,
): Promise<string> {
  const facts = provenance
    ? [
        oneLine(
          `Commit ${provenance.commit.slice(0, 12)} of ${provenance.date.slice(0, 10)}: ${provenance.subject}`,
        ),
        oneLine(`Statement from: ${provenance.grade} ${provenance.statement_source ?? ''}`),
        `Tests: ${provenance.fail_to_pass.length} to repair, ${provenance.pass_to_pass.length} to keep, ${provenance.excluded.length} that do not count`,
        ...provenance.fail_to_pass.slice(0, 8).map((test) => `  ${oneLine(test)}`),
        ...provenance.review.map((note) => `Look at this: the statement ${oneLine(note)}`),
      ]
    : [];
  return [
    '',
    `── ${index + 1} of ${all}: ${oneLine(id)}`,
    ...facts,
    `Answer: ${await sizeOf(join(folder, TASK_PARTS.goldPatch))}`,
    '',
    ...printable(task.prompt)
      .split('\n')
      .map((line) => `  ${line}`),
    '',
  ].join('\n');
}

/** Git counts: a removed line `-- x` looks like a header, and a binary file has none. */
async function sizeOf(patch: string): Promise<string> {
  const counts = await git(['apply', '--numstat', patch], {}).catch(() => undefined);
  if (counts === undefined) return existsSync(patch) ? 'a patch that Git cannot read' : 'none';
  const lines = counts.toString().trimEnd().split('\n');
  const sum = (column: number) =>
    lines.reduce((total, line) => total + (Number(line.split('\t')[column]) || 0), 0);
  return `${counted(lines.length, 'file')}, +${sum(0)} −${sum(1)}`;
}

const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '\u{fffd}');

/** The first letter of the answer; empty when the input has ended. */
async function ask(question: string, { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>): Promise<string> {
  using terminal = createInterface({ input: stdin, output: stderr });
  const asked = Promise.withResolvers<string>();
  terminal.once('close', () => asked.resolve(''));
  void terminal.question(question).then(
    (answer) => asked.resolve(answer.trim().slice(0, 1).toLowerCase() || '?'),
    () => {},
  );
  return await asked.promise; // `using` would close the terminal before there is an answer
}

/** Opens the file of the task in the user's editor. */
async function edit(task: MinedTask): Promise<void> {
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', join(task.folder, TASK_FILE)], {
    stdio: 'inherit',
  });
  await once(child, 'close');
}

/** The task as its files say now. Says why, and resolves with `undefined`, where they are not valid. */
async function readAgain(
  task: MinedTask,
  { stderr }: Pick<Streams, 'stderr'>,
): Promise<MinedTask | undefined> {
  try {
    return await readMinedTask(task.folder);
  } catch (error) {
    if (!(error instanceof WhetstoneError)) throw error;
    stderr.write(`${error.message}\nThe task is not valid as it is now. Edit it again.\n`);
    return undefined;
  }
}
