import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from '@whetstone/sandbox';
import type { HardEvaluation } from '../config/schema.ts';
import type { HardCheckRow } from '../record/row.ts';
import type { Changes } from '../workspace/workspace.ts';
import type { AnswerFiles } from './answer-files.ts';
import { commandText, runCommandIn, succeeded } from './run-commands.ts';

/** In bytes. Larger files are not searched for snippets. */
const SNIPPET_FILE_LIMIT = 8 * 1024 * 1024;

/**
 * The checks of `hard_evaluation` that examine the tree and the changes, with the names and the order of
 * context-eval. They run before any command, so that nothing that a command writes counts.
 */
export async function checkTree(
  hard: HardEvaluation | undefined,
  tree: string,
  changes: Changes,
  agentCompleted: boolean,
): Promise<HardCheckRow[]> {
  if (!hard?.enabled) return [];
  const touched = new Set(
    changes.files.flatMap((file) => (file.from === undefined ? [file.path] : [file.path, file.from])),
  );
  const forbidden = hard.forbiddenPaths.filter((path) => touched.has(path));
  const rows: HardCheckRow[] = [
    check('agent_completed', agentCompleted, agentCompleted ? 'the agent completed' : 'the agent did not'),
  ];
  for (const path of hard.requiredPaths) {
    rows.push(
      check(
        `required_path:${path}`,
        touched.has(path),
        `${path} was ${touched.has(path) ? '' : 'not '}changed`,
      ),
    );
  }
  if (hard.forbiddenPaths.length > 0) {
    const evidence = forbidden.length > 0 ? `changed: ${forbidden.join(', ')}` : 'none was changed';
    rows.push(check('forbidden_paths', forbidden.length === 0, evidence));
  }
  rows.push(...limits(hard, changes));
  rows.push(...(await snippets(hard, tree)));
  return rows;
}

/** The checks that run commands or depend on the validation. */
export async function checkCommands(
  hard: HardEvaluation | undefined,
  sandbox: Sandbox,
  validation: 'passed' | 'failed' | 'skipped',
  { answers, signal }: { answers: AnswerFiles; signal: AbortSignal },
): Promise<HardCheckRow[]> {
  if (!hard?.enabled) return [];
  const rows: HardCheckRow[] = [];
  if (hard.requireValidationPass) {
    rows.push(check('validation_passed', validation === 'passed', `validation ${validation}`));
  }
  for (const { label, command, expected, timeoutSeconds } of hard.commandChecks) {
    const timeoutMs = timeoutSeconds * 1000;
    const result = await runCommandIn(sandbox, command, { timeoutMs, signal, env: await answers.lay() });
    const found = `${result.stdout}${result.stderr}`.includes(expected);
    const evidence = !succeeded(result)
      ? `\`${commandText(command)}\` ${result.ended === 'timeout' ? 'timed out' : `exited ${result.exitCode}`}`
      : found
        ? `\`${commandText(command)}\` exited 0`
        : `\`${commandText(command)}\` did not print ${JSON.stringify(expected)}`;
    rows.push(check(`command:${label}`, succeeded(result) && found, evidence));
  }
  return rows;
}

function limits(hard: HardEvaluation, changes: Changes): HardCheckRow[] {
  const rows: HardCheckRow[] = [];
  const limit = (name: string, value: number, bound: number | undefined, kind: 'at most' | 'at least') => {
    if (bound === undefined) return;
    const holds = kind === 'at most' ? value <= bound : value >= bound;
    rows.push(check(name, holds, `${value}, ${kind} ${bound}`));
  };
  limit('max_changed_files', changes.files.length, hard.maxChangedFiles, 'at most');
  limit('min_insertions', changes.insertions, hard.minInsertions, 'at least');
  limit('max_insertions', changes.insertions, hard.maxInsertions, 'at most');
  limit('min_deletions', changes.deletions, hard.minDeletions, 'at least');
  limit('max_deletions', changes.deletions, hard.maxDeletions, 'at most');
  return rows;
}

async function snippets(hard: HardEvaluation, tree: string): Promise<HardCheckRow[]> {
  const rows: HardCheckRow[] = [];
  for (const [name, wanted, list] of [
    ['expected_snippet', true, hard.expectedSnippets],
    ['forbidden_snippet', false, hard.forbiddenSnippets],
  ] as const) {
    for (const { path, snippets: texts } of list) {
      const content = await readInTree(tree, path);
      for (const text of new Set(texts)) {
        const found = content?.includes(text) ?? false;
        const where =
          content === undefined ? `${path} cannot be read` : `${found ? '' : 'not '}found in ${path}`;
        rows.push(check(`${name}:${path}`, found === wanted, `${JSON.stringify(text)} ${where}`));
      }
    }
  }
  return rows;
}

/** Reads a file of the tree without following any symlink, because an agent made what is in the tree. */
async function readInTree(tree: string, path: string): Promise<string | undefined> {
  try {
    let parent = tree;
    for (const part of path.split('/').slice(0, -1)) {
      parent = join(parent, part);
      if (!(await lstat(parent)).isDirectory()) return undefined;
    }
    await using handle = await open(
      join(tree, path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > SNIPPET_FILE_LIMIT) return undefined;
    return await handle.readFile('utf8');
  } catch {
    return undefined;
  }
}

function check(name: string, holds: boolean, evidence: string): HardCheckRow {
  return { name, status: holds ? 'passed' : 'failed', evidence };
}
