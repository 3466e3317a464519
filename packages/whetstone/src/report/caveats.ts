import type { Manifest } from '../record/manifest.ts';
import { FEWEST_TASKS } from '../stats/population-difference.ts';
import { type CaseResult, countOutcomes, isSkipped } from './case-results.ts';
import { aboutTheContext } from './context-caveats.ts';
import { driftOf } from './drift.ts';
import { counted, points, pValue } from './format.ts';
import { aboutTheRequests } from './request-caveats.ts';
import { aboutTheVerifier } from './verifier-noise.ts';

/** What a run does not show, in sentences, the most serious first. The notes of the manifest come last. */
export function findCaveats(manifest: Manifest, cases: readonly CaseResult[]): string[] {
  return [
    ...aboutTheModel(manifest),
    ...aboutTheSample(manifest),
    ...aboutTheBridge(manifest),
    ...aboutTheMetric(manifest, cases),
    ...aboutDrift(manifest, cases),
    ...aboutReuse(cases),
    ...aboutSkipped(cases),
    ...aboutServers(cases),
    ...aboutTheResults(cases),
    ...aboutTheVerifier(cases),
    ...aboutTheContext(cases),
    ...aboutTheRequests(manifest, cases),
    ...(manifest.imported_from ? [] : aboutTheIsolation(manifest.isolation, cases)),
    ...manifest.notes,
  ];
}

/** Whether a case has a verdict although nothing checked the work. */
export function isUnverified({ row }: CaseResult): boolean {
  return row !== null && (row.outcome === 'passed' || row.outcome === 'failed') && row.confidence === 'low';
}

/** Whether a case has not run, because an earlier run has the result of the same work. */
export const isReused = ({ row }: CaseResult): boolean => row?.reused_from !== undefined;

function aboutReuse(cases: readonly CaseResult[]): string[] {
  const reused = cases.filter(isReused).length;
  return sentences(
    reused > 0 &&
      `${reused} of ${counted(cases.length, 'case')} did not run: their results, times and costs are those of earlier runs of the same work.`,
  );
}

function aboutDrift({ trials }: Manifest, cases: readonly CaseResult[]): string[] {
  return driftOf(cases, trials)
    .filter(({ p_value: p }) => p < 0.05)
    .map(
      ({ agent, change, p_value: p }) =>
        `The pass rate of ${agent} changed by about ${points(change)} pp from the first block of the run to the last one (${pValue(p)}): the model, its provider or the machine may have changed meanwhile. All arms were affected alike.`,
    );
}

/** Each reason with the tasks that gave it. */
function aboutSkipped(cases: readonly CaseResult[]): string[] {
  const byReason = Map.groupBy(cases.filter(isSkipped), ({ row }) => row?.evidence ?? '');
  return [...byReason].map(([reason, skipped]) => {
    const tasks = [...new Set(skipped.map(({ task_id }) => task_id))];
    const named = [...tasks.slice(0, 5), ...(tasks.length > 5 ? [`${tasks.length - 5} more`] : [])];
    const count = `${counted(skipped.length, 'case')} skipped ${skipped.length === 1 ? 'itself' : 'themselves'}`;
    return `${count} and ${skipped.length === 1 ? 'is' : 'are'} in no rate (${named.join(', ')}): ${reason}`;
  });
}

function aboutTheModel(manifest: Manifest): string[] {
  const unversioned = manifest.agents.filter((agent) => agent.version === null).map((agent) => agent.name);
  return sentences(
    isScripted(manifest) && 'The model was a script: these numbers say nothing about a real model.',
    unversioned.length > 0 &&
      `The version of ${unversioned.join(', ')} is unknown, so another run may have used a different one.`,
  );
}

function aboutTheMetric({ metric, early_exit, trials }: Manifest, cases: readonly CaseResult[]): string[] {
  const notRun = cases.filter(({ notRun }) => notRun).length;
  const graded = cases.filter(({ row }) => row?.outcome === 'passed' || row?.outcome === 'failed');
  const open = graded.filter(({ share }) => share === undefined).length;
  return sentences(
    early_exit !== undefined &&
      `Early exit: ${notRun} of ${counted(cases.length, 'case')} did not run because another trial of the same work had passed. There is no pass rate per trial and no pass^${trials}, comparisons are about pass@${trials}, and tokens and cost are those of the trials that ran.`,
    metric === 'score' &&
      open > 0 &&
      `The score of ${counted(open, 'case')} is not known, although the outcome is: no assertion has points, or not all of them were evaluated. These scores are missing data.`,
  );
}

export function isScripted(manifest: Manifest): boolean {
  return manifest.gateway?.mode === 'script';
}

function aboutTheSample({ tasks, trials, variants, baseline }: Manifest): string[] {
  const count = counted(tasks.length, 'task');
  return sentences(
    tasks.length < FEWEST_TASKS &&
      `${count}: with fewer than ${FEWEST_TASKS} tasks no difference can be significant, whatever the number of trials.`,
    tasks.length >= FEWEST_TASKS &&
      tasks.length < 20 &&
      `${count} are few. More tasks narrow the intervals; more trials hardly do.`,
    trials === 1 && 'One trial per case: run-to-run variation was not measured.',
    variants.every((variant) => variant.name !== baseline) &&
      `The baseline ${baseline} was not among the variants, so nothing was compared.`,
    'The intervals hold only for tasks like these, in this repository, with these agents and this model.',
  );
}

function aboutTheBridge({ bridge, baseline, tasks, variants, run_id: id }: Manifest): string[] {
  if (!bridge) return [];
  const compare = variants
    .filter(({ name }) => name !== baseline)
    .map(({ name }) => `whetstone compare ${bridge.run_id}:${baseline} ${id}:${name}`);
  return [
    `${baseline} ran on ${bridge.tasks.length} of ${counted(tasks.length, 'task')}, as a bridge to run ${bridge.run_id}; the comparisons here are over those tasks only. Over all tasks: ${compare.join('; ')}`,
  ];
}

/** Tasks that a sentence names. The rows have all. */
const MOST_NAMED = 10;

const namedCases = (cases: readonly CaseResult[]): string =>
  `${cases
    .map(({ case_id }) => case_id)
    .slice(0, 3)
    .join(', ')}${cases.length > 3 ? ', …' : ''}`;

function aboutTheResults(cases: readonly CaseResult[]): string[] {
  const { error, missing } = countOutcomes(cases);
  const unverified = cases.filter(isUnverified).length;
  const contaminated = cases.filter(({ row }) => row?.contaminated_by !== undefined);
  const lonely = cases.filter(({ row }) => row?.outcome === 'failed' && row.service_ended !== undefined);
  const weak = cases.filter(
    ({ row }) => row?.judged_by === 'exit-codes' && (row.outcome === 'passed' || row.outcome === 'failed'),
  );
  const touched = cases.filter((one) => (one.row?.protected_paths_touched.length ?? 0) > 0).length;
  return sentences(
    error + missing > 0 &&
      `${error + missing} of ${counted(cases.length, 'case')} ${error + missing === 1 ? 'has' : 'have'} no result (${counted(error, 'error')}, ${missing} not finished). They are missing data, not failures; the bounds show how far they could move each rate.`,
    unverified > 0 &&
      `Nothing verified the work of ${counted(unverified, 'case')}: there, passed means only that the agent completed.`,
    lonely.length > 0 &&
      `Beside the agent, a service ended in ${counted(lonely.length, 'case')} that failed (${namedCases(lonely)}). Nobody sees whether the agent ended it, so the failures count; the logs of the service are with the case.`,
    contaminated.length > 0 &&
      `${counted(contaminated.length, 'case')} ${contaminated.length === 1 ? 'is' : 'are'} contaminated: a canary of the hidden tests or of the answer was in a model request, in the events or in the patch (${namedCases(contaminated)}).`,
    weak.length > 0 &&
      `The verdict is weak in ${counted(weak.length, 'case')}: only exit codes of commands decided, and code under test can end its process with 0. Tests that are declared in validation.tests are judged by their report.`,
    ...aboutMasks(cases),
    touched > 0 &&
      `The agent changed protected paths in ${counted(touched, 'case')}; they were restored before verification.`,
  );
}

/** What a pass of masked tests means, by task. */
function aboutMasks(cases: readonly CaseResult[]): string[] {
  const byTask = new Map(cases.flatMap(({ row }) => (row?.masks ? [[row.task_id, row.masks] as const] : [])));
  const masked = [...byTask].map(
    ([task, { tests, slots, literal, rounds }]) =>
      `${task} in ${slots} of ${counted(tests, 'test')}, ${literal} by another literal, ${counted(rounds, 'round')}`,
  );
  const bare = new Map(
    cases.flatMap(({ row }) => (row?.unmasked === undefined ? [] : [[row.task_id, row.unmasked] as const])),
  );
  return sentences(
    masked.length > 0 &&
      `The tests were masked: a pass means that the code told right from secretly changed expectations (${firstOf(masked, '; ')}). It does not mean that the tests ask for enough, or that nobody had learnt their answers.`,
    bare.size > 0 &&
      `The tests of ${counted(bare.size, 'task')} were not masked, so code under test could fake a pass in the process of its tests (${firstOf(
        [...bare].map(([task, why]) => `${task}: ${why}`),
        '; ',
      )}).`,
  );
}

const firstOf = (texts: readonly string[], between: string): string =>
  `${texts.slice(0, MOST_NAMED).join(between)}${texts.length > MOST_NAMED ? `${between}…` : ''}`;

/** Agents on a server of the user, whose results nobody can repeat from the configuration. */
export function aboutServers(cases: readonly CaseResult[]): string[] {
  const external = cases.filter(({ row }) => row?.reproducibility === 'external');
  const names = [...new Set(external.map(({ agent_name }) => agent_name))];
  return sentences(
    names.length > 0 &&
      `reproducibility: external. ${names.join(', ')} worked on a server that Whetstone did not start, outside the sandbox: its models, settings and state are not part of this run.`,
  );
}

function aboutTheIsolation(
  { provider, level, network, hosts = [] }: Manifest['isolation'],
  cases: readonly CaseResult[],
): string[] {
  const stripped = [...new Set(cases.flatMap(({ row }) => row?.stripped_tools ?? []))].sort();
  return sentences(
    provider === 'none' &&
      'The agent ran in the process of Whetstone, without any isolation: only for code that you trust.',
    level === 0 &&
      provider !== 'none' &&
      `Isolation level 0 (${provider}) is only for trusted agents: an agent could reach more than its workspace.`,
    network.startsWith('open') &&
      'The network was open: an agent could look up anything, including solutions.',
    hosts.length > 0 &&
      `The sandbox let agents reach ${hosts.join(', ')}: an agent could look up what is there, and leave something.`,
    network.endsWith('provider-tools') &&
      'network: provider-tools. The gateway allowed tools that run at the provider: an agent could look up anything through them, including solutions.',
    stripped.length > 0 &&
      `The gateway removed from requests what runs at the provider, or what it would fetch: ${stripped.join(', ')}. Agents as shipped may have used it.`,
  );
}

/** The sentences that apply. */
const sentences = (...all: (string | false)[]): string[] => all.filter((sentence) => sentence !== false);
