import { toCommand } from '@whetstone/agents/config';
import { checkMapping, isMapping, warnCloseKeys, warnUnknownKeys, written } from './check-shape.ts';
import type { Config, ExpectedOutcome, HardEvaluation, TaskConfig } from './config.ts';
import type { ReadContext } from './read-context.ts';
import { readOutputSchema } from './read-output-schema.ts';
import { readSource } from './read-variant.ts';
import { type RawTask, taskSchema } from './schema.ts';
import type { YamlPath } from './yaml-source.ts';

/** One entry of the task file; `evaluation` has the defaults. */
export async function readTask(
  raw: unknown,
  path: YamlPath,
  evaluation: Config['evaluation'],
  context: ReadContext,
): Promise<TaskConfig | undefined> {
  const { report } = context;
  const known = Object.keys(taskSchema.shape);
  if (isMapping(raw)) {
    warnCloseKeys(known, raw, path, report);
    const ours = Object.fromEntries(Object.entries(raw).filter(([key]) => known.includes(key)));
    warnUnknownKeys(taskSchema, ours, path, report);
  }
  const fields = checkMapping(taskSchema, raw, path, report);
  if (!fields || !isMapping(raw)) return undefined;
  const hiddenTests =
    fields.hidden_tests == null
      ? undefined
      : await readSource(fields.hidden_tests, [...path, 'hidden_tests'], context, 'folder');
  const outputSchema =
    fields.output_schema == null
      ? undefined
      : await readOutputSchema(fields.output_schema, [...path, 'output_schema'], context);
  if (fields.id === undefined || fields.prompt === undefined) return undefined;
  const expectedOutcome = fields.expected_outcome ? readExpectedOutcome(fields.expected_outcome) : undefined;
  const hardEvaluation = fields.hard_evaluation
    ? readHardEvaluation(fields.hard_evaluation, expectedOutcome)
    : undefined;
  return {
    id: fields.id,
    prompt: fields.prompt,
    setup: (fields.setup ?? []).map(toCommand),
    validation: readValidation(fields.validation, evaluation),
    protectedPaths: fields.protected_paths ?? [],
    extra: Object.fromEntries(Object.entries(raw).filter(([key]) => !known.includes(key))),
    ...written({
      followUps: fields.follow_ups?.length ? fields.follow_ups : undefined,
      title: fields.title,
      category: fields.category,
      difficulty: fields.difficulty,
      repoRef: fields.repo_ref,
      hiddenTests,
      outputSchema,
      timeoutSeconds: fields.timeout_seconds,
      expectedOutcome,
      hardEvaluation,
    }),
    ...(raw.soft_evaluation != null && { softEvaluation: raw.soft_evaluation }),
  };
}

/** A non-empty list of the task replaces the default one; the timeout has its own default. */
function readValidation(
  raw: RawTask['validation'],
  evaluation: Config['evaluation'],
): TaskConfig['validation'] {
  const own = (raw?.commands ?? []).map(toCommand);
  return {
    commands: own.length > 0 ? own : evaluation.commands,
    ...written({ timeoutSeconds: raw?.timeout_seconds ?? evaluation.timeoutSeconds }),
  };
}

function readExpectedOutcome(raw: NonNullable<RawTask['expected_outcome']>): ExpectedOutcome {
  return {
    acceptancePoints: raw.acceptance_points ?? [],
    files: (raw.files ?? []).map((file) => ({
      path: file.path,
      changeType: file.change_type ?? 'modified',
      mustChange: file.must_change ?? false,
      expectedSnippets: file.expected_snippets ?? [],
      forbiddenSnippets: file.forbidden_snippets ?? [],
    })),
    forbiddenPaths: raw.forbidden_paths ?? [],
    ...written({ summary: raw.summary }),
  };
}

function readHardEvaluation(
  raw: NonNullable<RawTask['hard_evaluation']>,
  expected: ExpectedOutcome | undefined,
): HardEvaluation {
  const enabled = raw.enabled ?? true;
  const merged = enabled && expected ? expected : { files: [], forbiddenPaths: [] };
  return {
    enabled,
    requireValidationPass: raw.require_validation_pass ?? false,
    requiredPaths: unique([
      ...(raw.required_paths ?? []),
      ...merged.files.filter(({ mustChange }) => mustChange).map(({ path }) => path),
    ]),
    forbiddenPaths: unique([...(raw.forbidden_paths ?? []), ...merged.forbiddenPaths]),
    expectedSnippets: mergeSnippets([
      ...(raw.expected_snippets ?? []),
      ...merged.files.map(({ path, expectedSnippets }) => ({ path, snippets: expectedSnippets })),
    ]),
    forbiddenSnippets: mergeSnippets([
      ...(raw.forbidden_snippets ?? []),
      ...merged.files.map(({ path, forbiddenSnippets }) => ({ path, snippets: forbiddenSnippets })),
    ]),
    commandChecks: (raw.command_checks ?? []).map((check) => ({
      label: check.label,
      command: toCommand(check.command),
      expected: check.expected ?? '',
      timeoutSeconds: check.timeout_seconds ?? 60,
    })),
    ...written({
      maxChangedFiles: raw.max_changed_files,
      minInsertions: raw.min_insertions,
      maxInsertions: raw.max_insertions,
      minDeletions: raw.min_deletions,
      maxDeletions: raw.max_deletions,
    }),
  };
}

/** One entry per path, each snippet once. */
function mergeSnippets(
  entries: { path: string; snippets: string[] }[],
): { path: string; snippets: string[] }[] {
  const byPath = Map.groupBy(entries, ({ path }) => path);
  return [...byPath]
    .map(([path, group]) => ({ path, snippets: unique(group.flatMap(({ snippets }) => snippets)) }))
    .filter(({ snippets }) => snippets.length > 0);
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
