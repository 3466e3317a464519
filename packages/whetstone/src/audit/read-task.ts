import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskConfig } from '../config/config.ts';
import { isProtectedByDefault } from '../config/default-protected-paths.ts';
import { protectedBy } from '../config/protected-paths.ts';
import { listSource } from '../config/source-tree.ts';
import { classifyPath } from '../tasks/classify-path.ts';
import { leaksOf } from '../tasks/leaks.ts';
import { commandText, VALIDATION_LIMIT_SECONDS } from '../verify/run-commands.ts';
import { type Finding, finding } from './finding.ts';
import { unsafeCommands } from './read-commands.ts';
import { addedLines, type SolvedTree } from './solved-tree.ts';

/** Larger files are not read. In bytes. */
const LARGEST = 1024 * 1024;

/** Finds what a task shows and what it leaves open, without playing it. */
export async function readDefects(task: TaskConfig, tree: SolvedTree): Promise<Finding[]> {
  const files = (await listSource(tree.base)).filter(({ kind }) => kind === 'file').map(({ path }) => path);
  return [
    ...limits(task),
    ...unsafeCommands(task),
    ...unprotected(task, new Set(files)),
    ...inPrompt(task, tree),
    ...(await inTree(task, tree, files)),
  ];
}

function limits({ id, validation, goldPatch }: TaskConfig): Finding[] {
  const found: Finding[] = [];
  if (!validation.tests && validation.commands.length > 0) {
    const what = `Only the exit code of \`${commandText(validation.commands[0] ?? { kind: 'argv', argv: [] })}\` decides.`;
    found.push(finding('weak-verdict', id, { subject: 'validation', what }));
  }
  if (validation.timeoutSeconds === undefined)
    found.push(
      finding('no-limit', id, {
        subject: 'validation',
        what: `A verification that does not end is ended after ${VALIDATION_LIMIT_SECONDS} s, not before.`,
      }),
    );
  if (goldPatch === undefined)
    found.push(finding('unshown', id, { subject: 'gold_patch', what: 'The task names no gold_patch.' }));
  return found;
}

/** Files of the tree that decide the verdict and that an agent may change: tests, and programs that commands start. */
function unprotected(task: TaskConfig, files: ReadonlySet<string>): Finding[] {
  const isNamed = protectedBy(task.protectedPaths);
  const isChangeable = protectedBy(task.changeablePaths ?? []);
  const named = task.validation.commands.flatMap((command) => commandText(command).split(/[\s;|&<>()'"`=]+/));
  const deciding = [
    ...(task.validation.tests?.files ?? []),
    ...named.map((word) => word.replace(/^\.\//, '')),
  ].filter(
    (path) =>
      files.has(path) && !isNamed(path) && !isProtectedByDefault(path) && classifyPath(path) !== 'source',
  );
  const opened = [...files].filter(
    (path) => isProtectedByDefault(path) && isChangeable(path) && !isNamed(path),
  );
  const all = [...new Set([...deciding, ...opened])];
  // Hidden tests replace what is at their paths.
  if (task.hiddenTests !== undefined && all.every((path) => task.validation.tests?.files.includes(path)))
    return [];
  if (all.length === 0) return [];
  const what = `An agent may change ${all.slice(0, 5).join(', ')}.`;
  return [finding('unprotected', task.id, { subject: all[0] ?? '', what })];
}

function inPrompt({ id, prompt }: TaskConfig, { patch }: SolvedTree): Finding[] {
  if (patch === null) return [];
  const { copied } = leaksOf(prompt, { goldPatch: patch, paths: [] });
  return copied.map((line) =>
    finding('answer-shown', id, { subject: 'prompt', what: `The prompt has a line of the answer: ${line}` }),
  );
}

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Files of the tree that are the hidden tests, or that have nearly all of what the patch adds. */
async function inTree(
  task: TaskConfig,
  { base, patch }: SolvedTree,
  files: readonly string[],
): Promise<Finding[]> {
  const hidden = new Map<string, string>();
  for (const entry of task.hiddenTests === undefined ? [] : await listSource(task.hiddenTests))
    if (entry.kind === 'file' && classifyPath(entry.path) === 'test')
      hidden.set(hashOf(await readFile(entry.absolute)), entry.path);
  const changed = patch === null ? new Map<string, Set<number>>() : addedLines(patch);
  const answer = patch === null ? [] : tellingLines(patch);
  const found: Finding[] = [];
  for (const path of files) {
    if (/(^|\/)(node_modules|\.git|\.venv)\//.test(path)) continue;
    const content = await readFile(join(base, path)).catch(() => undefined);
    if (!content || content.length === 0 || content.length > LARGEST) continue;
    const test = hidden.get(hashOf(content));
    // A test that is already in the tree at its own path is what the task states, not something that its author forgot.
    if (test !== undefined && test !== path)
      found.push(
        finding('answer-shown', task.id, {
          subject: path,
          what: `The tree has the hidden test ${test} as ${path}.`,
        }),
      );
    if (answer.length < FEWEST_LINES || changed.has(path)) continue;
    const lines = new Set(content.toString().split('\n').map(plain));
    const same = answer.filter((line) => lines.has(line)).length;
    if (same / answer.length >= NEARLY_ALL)
      found.push(
        finding('answer-shown', task.id, {
          subject: path,
          what: `${path} has ${same} of the ${answer.length} telling lines of the answer.`,
        }),
      );
  }
  return found;
}

const FEWEST_LINES = 2;
const NEARLY_ALL = 0.9;

/** A line of a patch may stand in a file of patches as well. */
const plain = (line: string): string => line.replace(/^\+/, '').trim();

/** The lines that a patch adds and that no other code is likely to have. */
function tellingLines(patch: string): string[] {
  const added = patch.split('\n').filter((line) => /^\+(?!\+\+ )/.test(line));
  const lines = added
    .map(plain)
    .filter((line) => line.length >= 12 && /\w\W+\w/.test(line) && !/^(import|from|\/\/|#|\*)/.test(line));
  return [...new Set(lines)];
}
