import { runCommandIn } from '@whetstone/agents/config';
import type { Sandbox } from '@whetstone/sandbox';
import type { HardEvaluation } from '../config/schema.ts';
import type { HardCheckRow } from '../record/row.ts';
import type { Changes } from '../workspace/workspace.ts';
import type { AnswerFiles } from './answer-files.ts';
import { readInTree } from './read-in-tree.ts';
import { commandText, succeeded } from './run-commands.ts';

/** Checks tree and changes, named and ordered as in context-eval, before any command can write there. */
export async function checkTree(
  hard: HardEvaluation | undefined,
  tree: string,
  changes: Changes,
  agentCompleted: boolean,
): Promise<HardCheckRow[]> {
  if (!hard?.enabled) return [];
  const touched = new Set(touchedPaths(changes));
  const forbidden = hard.forbiddenPaths.filter((path) => touched.has(path));
  const rows: HardCheckRow[] = [
    check('agent_completed', agentCompleted, agentCompleted ? 'the agent completed' : 'the agent did not'),
  ];
  for (const path of hard.requiredPaths) {
    const isTouched = touched.has(path);
    rows.push(check(`required_path:${path}`, isTouched, `${path} was ${isTouched ? '' : 'not '}changed`));
  }
  if (hard.forbiddenPaths.length > 0) {
    const evidence = forbidden.length > 0 ? `changed: ${forbidden.join(', ')}` : 'none was changed';
    rows.push(check('forbidden_paths', forbidden.length === 0, evidence));
  }
  rows.push(...limits(hard, changes));
  rows.push(...(await snippets(hard, tree)));
  return rows;
}

/** Display paths of changed files, for a rename both. */
export const touchedPaths = ({ files }: Changes): string[] =>
  files.flatMap(({ path, from }) => (from === undefined ? path : [path, from]));

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
    const ended = result.ended === 'timeout' ? 'timed out' : `exited ${result.exitCode}`;
    const how = succeeded(result) && !found ? `did not print ${JSON.stringify(expected)}` : ended;
    rows.push(check(`command:${label}`, succeeded(result) && found, `\`${commandText(command)}\` ${how}`));
  }
  return rows;
}

function limits(hard: HardEvaluation, changes: Changes): HardCheckRow[] {
  const { files, insertions, deletions } = changes;
  const bounds = [
    ['max_changed_files', files.length, 'at most', hard.maxChangedFiles],
    ['min_insertions', insertions, 'at least', hard.minInsertions],
    ['max_insertions', insertions, 'at most', hard.maxInsertions],
    ['min_deletions', deletions, 'at least', hard.minDeletions],
    ['max_deletions', deletions, 'at most', hard.maxDeletions],
  ] as const;
  return bounds.flatMap(([name, value, kind, bound]) => {
    if (bound === undefined) return [];
    const holds = kind === 'at most' ? value <= bound : value >= bound;
    return check(name, holds, `${value}, ${kind} ${bound}`);
  });
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

function check(name: string, holds: boolean, evidence: string): HardCheckRow {
  return { name, status: holds ? 'passed' : 'failed', evidence };
}
