import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { WhetstoneError } from '@whetstone/errors';
import { TASK_FILE, taskFoldersIn } from '../config/read-task-file.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { keepTask, type MinedTask, readMinedTask } from '../tasks/mined-task.ts';
import { TASK_PARTS } from '../tasks/write-task.ts';
import { git } from '../workspace/git.ts';
import { errorText, printError } from './print-error.ts';
import type { Streams } from './streams.ts';

/** A folder whose files are not valid. `error` says why. */
type InvalidTask = { folder: string; id: string; error: WhetstoneError };

/**
 * Walks through the tasks of a folder that nobody has kept yet. With `--json`, and without a terminal, only shows them; 2:
 * some task is not valid. 130: Ctrl-C.
 */
export async function tasksReviewCommand(
  folder: string,
  options: { all?: boolean; json?: boolean },
  { stdin, stdout, stderr }: Streams,
): Promise<number> {
  const tasks = await Promise.all(taskFoldersIn(resolve(folder)).map(readOrWhyNot));
  const waiting = options.all ? tasks : tasks.filter((one) => isInvalid(one) || !one.provenance?.kept);
  const invalid = waiting.filter(isInvalid);
  if (options.json || !stdin.isTTY) {
    const valid = waiting.filter((one): one is MinedTask => !isInvalid(one));
    if (options.json)
      stdout.write(escapedJson(valid.map(({ task, ...one }) => ({ ...one, prompt: task.prompt }))));
    else {
      for (const [index, one] of waiting.entries())
        stdout.write(`${await shown(one, index, waiting.length)}\n`);
      stdout.write(`${counted(waiting.length, 'task')} to review. On a terminal you are asked about each.\n`);
    }
    if (options.json)
      for (const { error } of invalid) await printError(error, { stdout, stderr, stdin }, false);
    return invalid.length === 0 ? 0 : 2;
  }
  const counts = { kept: 0, dropped: 0 };
  for (const [index, one] of waiting.entries()) {
    const answer = await decide(one, { index, all: waiting.length }, { stdin, stderr });
    if (answer === 'k') counts.kept += 1;
    if (answer === 'd') counts.dropped += 1;
    if (answer === 'q' || answer === '' || answer === INTERRUPT) {
      finish(counts, waiting.length, stdout);
      return answer === INTERRUPT ? 130 : 0;
    }
  }
  finish(counts, waiting.length, stdout);
  return 0;
}

const isInvalid = (one: MinedTask | InvalidTask): one is InvalidTask => 'error' in one;

async function readOrWhyNot(folder: string): Promise<MinedTask | InvalidTask> {
  try {
    return await readMinedTask(folder);
  } catch (error) {
    if (!(error instanceof WhetstoneError)) throw error;
    return { folder, id: basename(folder), error };
  }
}

/** Asks about one task until there is an answer that ends it, and does what the answer says. */
async function decide(
  first: MinedTask | InvalidTask,
  { index, all }: { index: number; all: number },
  { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>,
): Promise<string> {
  let one = first;
  stderr.write(`${await shown(one, index, all)}\n`);
  for (;;) {
    const isValid = !isInvalid(one);
    const question = isValid
      ? 'Keep, edit, drop, show the answer, later or quit? [k/e/d/s/l/q] '
      : 'Edit, drop, later or quit? [e/d/l/q] ';
    const answer = await ask(question, { stdin, stderr });
    if (['l', 'q', '', INTERRUPT].includes(answer)) return answer;
    if (answer === 'd') {
      await rm(one.folder, { recursive: true });
      return answer;
    }
    if (answer === 'e') {
      await edit(one);
      one = (await readAgain(one, { stderr })) ?? one;
      stderr.write(`${await shown(one, index, all)}\n`);
    } else if (answer === 's' && !isInvalid(one)) stderr.write(`\n${printable(one.goldPatch)}\n`);
    else if (answer === 'k' && isValid) {
      const valid = await readAgain(one, { stderr });
      if (!valid) continue;
      await keepTask(valid, new Date());
      return answer;
    } else stderr.write(`Answer with one letter of ${question.slice(question.indexOf('['))}\n`);
  }
}

function finish(
  { kept, dropped }: { kept: number; dropped: number },
  all: number,
  stdout: Streams['stdout'],
): void {
  stdout.write(`${kept} kept, ${dropped} dropped, ${all - kept - dropped} left for later\n`);
}

/** What a reviewer needs to decide. Texts of the repository have no control characters here. */
async function shown(one: MinedTask | InvalidTask, index: number, all: number): Promise<string> {
  const heading = `── ${index + 1} of ${all}: ${oneLine(one.id)}`;
  if (isInvalid(one)) return ['', heading, (await errorText(one.error, false)).trimEnd(), ''].join('\n');
  const { folder, task, provenance } = one;
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
    heading,
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

/** The answer where Ctrl-C was pressed. */
const INTERRUPT = '\x03';

/** The first letter of the answer; empty when the input has ended. */
async function ask(question: string, { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>): Promise<string> {
  using terminal = createInterface({ input: stdin, output: stderr });
  const asked = Promise.withResolvers<string>();
  terminal.once('SIGINT', () => asked.resolve(INTERRUPT)).once('close', () => asked.resolve(''));
  void terminal.question(question).then(
    (answer) => asked.resolve(answer.trim().slice(0, 1).toLowerCase() || '?'),
    () => {},
  );
  return await asked.promise; // `using` would close the terminal before there is an answer
}

/** Opens the file of the task in the user's editor. */
async function edit(task: Pick<MinedTask, 'folder'>): Promise<void> {
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', join(task.folder, TASK_FILE)], {
    stdio: 'inherit',
  });
  await once(child, 'close');
}

/** The task as its files say now. Says why, and resolves with `undefined`, where they are not valid. */
async function readAgain(
  task: Pick<MinedTask, 'folder'>,
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
