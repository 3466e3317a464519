import { readFile, writeFile } from 'node:fs/promises';
import type { CaseLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import type { Attempt, Lab } from './lab.ts';
import { maskValues } from './mask-values.ts';

/** How much of the patch a reviewer gets, in characters; the limit of context-eval. */
const PATCH_EXCERPT = 12_000;

/**
 * For a task with `soft_evaluation`: writes what a person or a model needs to score the case, in the form of context-eval's
 * `soft_evaluation_payload.json`. Nothing is scored here. Resolves with whether it was written: there is nothing to review
 * where the case has no verdict.
 */
export async function writeReview(
  row: CaseRow,
  { task, planned }: Attempt,
  files: CaseLayout,
  { mask }: Lab,
): Promise<boolean> {
  const { softEvaluation, expectedOutcome } = task;
  if (!softEvaluation?.enabled || row.outcome === 'error') return false;
  const patch = await readFile(files.patch, 'utf8').catch(() => '');
  const checks = row.hard_evaluation.filter(({ status }) => status !== 'skipped');
  const payload = {
    schema_version: '1',
    case: {
      case_id: planned.id,
      run_id: row.run_id,
      task_id: row.task_id,
      variant: row.variant,
      agent_name: row.agent_name,
      status: row.status,
    },
    task: {
      title: task.title ?? null,
      prompt: task.prompt,
      category: row.category,
      difficulty: row.difficulty,
      repo_ref: row.repo_ref,
    },
    expected_outcome: expectedOutcome
      ? { summary: expectedOutcome.summary ?? null, acceptance_points: expectedOutcome.acceptancePoints }
      : null,
    rubric: softEvaluation.rubric,
    max_score: softEvaluation.maxScore,
    changed_files: row.changed_files,
    insertions: row.insertions,
    deletions: row.deletions,
    touched_paths: row.touched_paths,
    patch_excerpt: patch.slice(0, PATCH_EXCERPT),
    validation: {
      status: row.validation_status,
      confidence: row.confidence,
      results: row.validation_results,
    },
    hard_evaluation: {
      status: row.hard_evaluation_status,
      score: checks.filter(({ status }) => status === 'passed').length,
      max_score: checks.length,
    },
  };
  await writeFile(files.review, `${JSON.stringify(maskValues(payload, mask), null, 2)}\n`, { mode: 0o600 });
  return true;
}
