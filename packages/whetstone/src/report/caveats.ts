import type { Manifest } from '../record/manifest.ts';
import { FEWEST_TASKS } from '../stats/power.ts';
import { type CaseResult, countOutcomes } from './case-results.ts';
import { aboutTheContext } from './context-caveats.ts';
import { counted } from './format.ts';

/** What a run does not show, one sentence each, the gravest first. The manifest's own notes come last. */
export function findCaveats(manifest: Manifest, cases: readonly CaseResult[]): string[] {
  return [
    ...aboutTheModel(manifest),
    ...aboutTheSample(manifest),
    ...aboutTheResults(cases),
    ...aboutTheContext(cases),
    ...aboutTheIsolation(manifest.isolation),
    ...manifest.notes,
  ];
}

/** A case whose verdict rests on nothing that was checked. */
export function isUnverified({ row }: CaseResult): boolean {
  return row !== null && row.outcome !== 'error' && row.confidence === 'low';
}

function aboutTheModel(manifest: Manifest): string[] {
  const unversioned = manifest.agents.filter((agent) => agent.version === null).map((agent) => agent.name);
  return [
    ...(isScripted(manifest)
      ? ['The model was a script: these numbers say nothing about a real model.']
      : []),
    ...(unversioned.length > 0
      ? [`The version of ${unversioned.join(', ')} is not known: another run may have used another one.`]
      : []),
  ];
}

export function isScripted(manifest: Manifest): boolean {
  return manifest.gateway?.mode === 'script';
}

function aboutTheSample({ tasks, trials, variants, baseline }: Manifest): string[] {
  return [
    ...(tasks.length < FEWEST_TASKS
      ? [
          `${counted(tasks.length, 'task')}: with fewer than ${FEWEST_TASKS} no difference can be significant, however many trials there are.`,
        ]
      : []),
    ...(tasks.length >= FEWEST_TASKS && tasks.length < 20
      ? [`${counted(tasks.length, 'task')} are few: more tasks narrow the intervals, more trials hardly do.`]
      : []),
    ...(trials === 1 ? ['One trial a case: how far trials of one task differ was not seen.'] : []),
    ...(variants.every((variant) => variant.name !== baseline)
      ? [`The baseline ${baseline} was not among the variants: nothing was compared.`]
      : []),
    'The intervals speak of tasks like these, in this repository, with these agents and this model; of no other.',
  ];
}

function aboutTheResults(cases: readonly CaseResult[]): string[] {
  const { error, missing } = countOutcomes(cases);
  const unverified = cases.filter(isUnverified).length;
  const touched = cases.filter((one) => (one.row?.protected_paths_touched.length ?? 0) > 0).length;
  return [
    ...(error + missing > 0
      ? [
          `${counted(error + missing, 'case')} of ${cases.length} without a result (${counted(error, 'infrastructure error')}, ${missing} not finished): missing data, not failures; the bounds say how far they could move each rate.`,
        ]
      : []),
    ...(unverified > 0
      ? [
          `Nothing verified the work of ${counted(unverified, 'case')}: passed then means only that the agent ended well.`,
        ]
      : []),
    ...(touched > 0
      ? [
          `The agent touched protected paths in ${counted(touched, 'case')}; they were restored before verification.`,
        ]
      : []),
  ];
}

function aboutTheIsolation({ provider, level, network }: Manifest['isolation']): string[] {
  return [
    ...(level === 0
      ? [
          `Isolation level 0 (${provider}): for trusted agents only; an agent could reach more than its workspace.`,
        ]
      : []),
    ...(network === 'open'
      ? ['The network was open: an agent could look up anything, solutions included.']
      : []),
  ];
}
