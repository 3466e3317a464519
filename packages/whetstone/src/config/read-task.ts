import { isRootInstructionFile } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import { camelCased } from './camel-cased.ts';
import { checkMapping, isMapping, warnCloseKeys } from './check-shape.ts';
import type { Config, TaskConfig, TaskTests } from './config.ts';
import { existingPath } from './existing-path.ts';
import { readOutputSchema } from './read-output-schema.ts';
import { readTests } from './read-tests.ts';
import { readOverlays, readSource } from './read-variant.ts';
import { type ExpectedOutcome, type HardEvaluation, type RawTask, taskSchema } from './schema.ts';
import type { Spot } from './spot.ts';

/** One entry of the task file; `evaluation` has the defaults. */
export async function readTask(
  raw: unknown,
  evaluation: Config['evaluation'],
  spot: Spot,
): Promise<TaskConfig | undefined> {
  const known = Object.keys(taskSchema.shape);
  if (!isMapping(raw)) {
    checkMapping(taskSchema, raw, spot);
    return undefined;
  }
  warnCloseKeys(known, raw, spot);
  const ours = Object.fromEntries(Object.entries(raw).filter(([key]) => known.includes(key)));
  const fields = checkMapping(taskSchema, ours, spot);
  if (!fields) return undefined;
  const hiddenTests =
    fields.hidden_tests == null
      ? undefined
      : await readSource(fields.hidden_tests, spot.at('hidden_tests'), 'folder');
  const goldPatch =
    fields.gold_patch == null ? undefined : existingPath(fields.gold_patch, spot.at('gold_patch'), 'file');
  const overlays = fields.overlays ? await readTaskOverlays(fields.overlays, spot.at('overlays')) : undefined;
  const tests = fields.validation?.tests
    ? await readTests(fields.validation.tests, spot.at('validation', 'tests'), {
        hidden_tests: fields.hidden_tests != null,
        gold_patch: fields.gold_patch != null,
      })
    : undefined;
  const outputSchema =
    fields.output_schema == null
      ? undefined
      : await readOutputSchema(fields.output_schema, spot.at('output_schema'));
  const { id, prompt, title, category, difficulty, repo_ref, timeout_seconds } = fields;
  const { setup_timeout_seconds, setup_env, side_effects } = fields;
  if (id === undefined || prompt === undefined) return undefined;
  const expectedOutcome = fields.expected_outcome ?? undefined;
  const softEvaluation = fields.soft_evaluation ?? undefined;
  const hardEvaluation = fields.hard_evaluation && withExpected(fields.hard_evaluation, expectedOutcome);
  return {
    id,
    prompt,
    setup: fields.setup ?? [],
    validation: readValidation(fields.validation, evaluation, tests),
    protectedPaths: fields.protected_paths ?? [],
    extra: Object.fromEntries(Object.entries(raw).filter(([key]) => !known.includes(key))),
    ...camelCased({ title, category, difficulty, repo_ref, timeout_seconds }),
    ...camelCased({ setup_timeout_seconds, setup_env, side_effects }),
    ...camelCased({
      hiddenTests,
      goldPatch,
      overlays,
      outputSchema,
      expectedOutcome,
      hardEvaluation,
      softEvaluation,
    }),
    ...(fields.changeable_paths?.length && { changeablePaths: fields.changeable_paths }),
    ...(fields.follow_ups?.length && { followUps: fields.follow_ups }),
  };
}

/** A non-empty list of the task, or its tests, replace the default list; the timeout has its own default. */
function readValidation(
  own: RawTask['validation'],
  evaluation: Config['evaluation'],
  tests: TaskTests | undefined,
) {
  const isOwn = own?.commands.length || own?.tests;
  return {
    commands: isOwn ? own.commands : evaluation.commands,
    ...present({ tests, timeoutSeconds: own?.timeoutSeconds ?? evaluation.timeoutSeconds }),
  };
}

/** Instructions are what variants compare, so no task brings its own. */
async function readTaskOverlays(raw: unknown[], spot: Spot) {
  const overlays = await readOverlays(raw, spot);
  for (const overlay of overlays) {
    const paths = overlay.kind === 'remove' ? overlay.paths : [overlay.target];
    for (const path of paths.filter(isRootInstructionFile)) {
      spot.error(`${path} is an instruction file, which only a variant may change`, {
        hint: 'move this overlay into a variant',
      });
    }
  }
  return overlays;
}

/** The checks of the task, and those that follow from the expected outcome. */
function withExpected(own: HardEvaluation, expected: ExpectedOutcome | undefined): HardEvaluation {
  const { files, forbiddenPaths } = own.enabled && expected ? expected : { files: [], forbiddenPaths: [] };
  return {
    ...own,
    requiredPaths: unique([
      ...own.requiredPaths,
      ...files.filter(({ mustChange }) => mustChange).map(({ path }) => path),
    ]),
    forbiddenPaths: unique([...own.forbiddenPaths, ...forbiddenPaths]),
    expectedSnippets: mergeSnippets([
      ...own.expectedSnippets,
      ...files.map(({ path, expectedSnippets }) => ({ path, snippets: expectedSnippets })),
    ]),
    forbiddenSnippets: mergeSnippets([
      ...own.forbiddenSnippets,
      ...files.map(({ path, forbiddenSnippets }) => ({ path, snippets: forbiddenSnippets })),
    ]),
  };
}

function mergeSnippets(entries: { path: string; snippets: string[] }[]) {
  const byPath = Map.groupBy(entries, ({ path }) => path);
  return [...byPath]
    .map(([path, group]) => ({ path, snippets: unique(group.flatMap(({ snippets }) => snippets)) }))
    .filter(({ snippets }) => snippets.length > 0);
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
