import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { createMask } from '@whetstone/sandbox/mask';
import { assertionFields } from '../attempt/assertion-fields.ts';
import { joinVerdicts, placedBelow } from '../attempt/join-verdicts.ts';
import type { GatewayConfig, JudgeConfig } from '../config/config.ts';
import type { AssertionRecord } from '../eval/assertions/assertion.ts';
import type { EvalWorkers } from '../eval/eval-workers.ts';
import { type Fixture, readFixture } from '../eval/fixture.ts';
import { hiddenStoreOf, toTask } from '../eval/plan-experiment.ts';
import type { EvalDescription, StoredTurn } from '../eval/protocol.ts';
import { type CaseLayout, caseLayout, runLayout } from '../record/layout.ts';
import { readRun, rowsInOrder } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { createRunRecord, type OwnFiles, type ReusedCase } from '../record/run-record.ts';
import { counted } from '../report/format.ts';
import { resultsOfRun } from '../report/sequential.ts';
import { newRunId } from './build-manifest.ts';
import { collectSecrets } from './collect-secrets.ts';
import { openLaterJudge } from './open-judge-gateway.ts';
import { storedCalls } from './stored-calls.ts';
import { textOf } from './stored-events.ts';
import { openStoredJudge, type StoredJudge } from './stored-judge.ts';
import { type CaseRooms, openStoredRooms } from './stored-rooms.ts';
import { type ReportedRun, writeReport } from './write-report.ts';

/** A run whose assertions were judged anew, and the cases whose outcome changed. */
export type Rescored = ReportedRun & {
  changed: { before: CaseRow; after: CaseRow }[];
  rescored: number;
  /** Cases of the stored run that are not in the new one: they have no assertions, or none of these evals is theirs. */
  leftOut: number;
  /** Judgements of an agent that is not the judge of the configuration. They are kept: an agent only judges during a run. */
  ofAnotherJudge: number;
};

/**
 * Judges stored cases with evals as they are now, without the agent: the code runs on the recorded turns, events and
 * changes. The result is a run of its own; the stored run stays as it is. A case whose eval now sends something else
 * than it sent cannot be judged, and is then an error of class `verifier`.
 * @throws WhetstoneError `selection-empty` when the run has no case of these evals, and those of `readRun`.
 */
export async function rescore(
  directory: string,
  {
    evals,
    workers,
    root,
    judge,
    gateway,
    repeat = 1,
  }: {
    evals: readonly EvalDescription[];
    workers: EvalWorkers;
    root: string;
    /** Who answers what no stored judgement answers. Default: nobody, so that such an assertion is unavailable. */
    judge?: JudgeConfig;
    gateway?: GatewayConfig;
    /** How often each case is judged: a whole number from 1. From the second time on, its checks run and its judge answers again. Default: 1. */
    repeat?: number;
  },
): Promise<Rescored> {
  const stored = await readRun(directory);
  await using laterJudge = await openLaterJudge(judge, gateway, stored.manifest);
  const byId = new Map(evals.map((one) => [one.id, one]));
  const rows = rowsInOrder(stored);
  const cases = rows.filter((row) => {
    const description = byId.get(row.task_id);
    return description && (row.assertions || isFolder(description));
  });
  if (cases.length === 0) {
    throw new WhetstoneError('selection-empty', 'This run has no case of these evals.', { where: directory });
  }
  const ofRun = new Set(cases.map(({ case_id }) => case_id));
  const notRun = resultsOfRun(stored.manifest, rows).filter((one) => one.notRun && byId.has(one.task_id));
  // What an early exit left out stays planned: it is missing where no trial passes any more.
  const planned = new Set([...ofRun, ...notRun.map(({ case_id }) => case_id)]);
  const matrix = stored.manifest.case_matrix.filter(({ case_id }) => planned.has(case_id));
  const createdAt = new Date();
  const leftOut = rows.length - cases.length;
  const often = repeat > 1 ? `, each case ${repeat} times` : '';
  const note = `Judged anew from run ${stored.manifest.run_id}${often}: the agents did not run.${omission(leftOut)}`;
  await using record = await createRunRecord(dirname(directory), {
    ...stored.manifest,
    ...{ run_id: newRunId(createdAt), created_at: createdAt.toISOString() },
    ...{ case_count: matrix.length, case_matrix: matrix, notes: [...stored.manifest.notes, note] },
    order: stored.manifest.order.filter((id) => planned.has(id)),
  });
  const mask = createMask(collectSecrets([], undefined, process.env));
  await using rooms = openStoredRooms(stored.manifest, mask);
  const fixtures = new Map<string, Promise<Fixture>>();
  const judgeAnew = async (before: CaseRow) => {
    const description = byId.get(before.task_id);
    if (!description) return [];
    const files = caseLayout(runLayout(directory).case(before.case_id));
    const fixture = await fixtureOf(description, root, fixtures);
    const startedWith = fixture && { fixture, commit: before.repo_ref };
    const task = toTask(description, { root }, undefined, startedWith);
    await using room = rooms.of({ row: before, files, task });
    await using caseJudge = await openStoredJudge(before, files, { judge: laterJudge, mask });
    const judgeOnce = (judge: StoredJudge, anew: boolean) =>
      task.eval
        ? rescoreCase(before, description, {
            ...{ files, workers, root, repo: stored.manifest.repo.path, judge, room, anew },
            hiddenTests: task.hiddenTests && basename(task.hiddenTests),
          })
        : rescoreFolder(before, room);
    const { row: first, own, isDecided } = await judgeOnce(caseJudge, false);
    const outcomes = [first.outcome];
    const used = [caseJudge.kept()];
    let { judge: spent } = first;
    for (let number = 2; number <= repeat && !isDecided; number += 1) {
      const options = { judge: laterJudge, mask, anew: true };
      await using again = await openStoredJudge({ ...before, ...present({ judge: spent }) }, files, options);
      const { row } = await judgeOnce(again, true);
      outcomes.push(row.outcome);
      used.push(again.kept());
      spent = row.judge;
    }
    const row = {
      ...{ ...first, ...present({ judge: spent }) },
      ...(outcomes.length > 1 && { verifications: verificationsOf(outcomes) }),
    };
    const reused_from = before.reused_from ?? { run_id: before.run_id, case_id: before.case_id };
    const ran = room.ran();
    const validation_results = [...before.validation_results, ...(ran?.commands ?? [])];
    const after = { ...row, run_id: record.manifest.run_id, reused_from, validation_results };
    const from = { directory, caseId: before.case_id };
    const kept: ReusedCase = {
      row: after,
      from,
      own: { ...own, ...keptOf(used) },
      ...present({ more: ran?.folder }),
    };
    return [{ before, after, kept, ofAnotherJudge: caseJudge.ofAnotherJudge }];
  };
  const changed: Rescored['changed'] = [];
  let ofAnotherJudge = 0;
  for (let start = 0; start < cases.length; start += BATCH) {
    const judged = await severalAtOnce(cases.slice(start, start + BATCH), judgeAnew);
    await record.reuseCases(judged.map(({ kept }) => kept));
    for (const { before, after, ofAnotherJudge: others } of judged) {
      ofAnotherJudge += others;
      if (after.outcome !== before.outcome) changed.push({ before, after });
    }
  }
  await record.finish('finished');
  return { ...(await writeReport(record)), changed, rescored: cases.length, leftOut, ofAnotherJudge };
}

const omission = (count: number): string =>
  count === 0 ? '' : ` ${counted(count, 'case')} of it left out: no assertions, or none of these evals.`;

/** So many cases are written at once: they go to the disk together. */
const BATCH = 500;

/** A process judges a case while this one reads the next one. */
const AT_ONCE = 2;

/** The results in order. Nothing runs any more when it settles. */
async function severalAtOnce<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[][] = [];
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return results.flat();
}

/** How long the code of one eval may wait, where it says nothing else. */
const ONE_HOUR_MS = 3_600_000;

/** `isDecided`: the case ended before anything judged it, or its eval skipped it. */
type Judged = { row: CaseRow; own: OwnFiles; isDecided: boolean };

/** Counts a case that its eval skipped like one that could not be judged. */
const verificationsOf = (outcomes: readonly CaseRow['outcome'][]): CaseRow['verifications'] => {
  const passed = outcomes.filter((one) => one === 'passed').length;
  const failed = outcomes.filter((one) => one === 'failed').length;
  return { runs: outcomes.length, passed, broken: outcomes.length - passed - failed };
};

/** The judgements that the outcome is from, and the model calls of all. */
function keptOf([first = {}, ...others]: readonly OwnFiles[]): OwnFiles {
  const calls = [first, ...others].map(({ judgeCalls }) => judgeCalls ?? '').join('');
  return { ...first, ...(calls !== '' && { judgeCalls: calls }) };
}

/** A folder with a PROMPT.md has no code: its hidden tests judge it, always in another clean room. */
const isFolder = ({ file, fixture }: EvalDescription): boolean => file === fixture;

async function rescoreFolder(row: CaseRow, room: CaseRooms): Promise<Judged> {
  // Then the agent failed or could not be driven, whatever the tests say.
  if (row.status === 'agent_failed' || row.status === 'timeout' || isOfTheAgent(row))
    return { row, own: {}, isDecided: true };
  const { status, message } = await room.check({ tests: true });
  const outcome =
    status === 'passed'
      ? ({ outcome: 'passed', failure_class: null, evidence: null, status: 'completed' } as const)
      : status === 'failed'
        ? ({
            outcome: 'failed',
            failure_class: 'agent',
            evidence: message,
            status: 'validation_failed',
          } as const)
        : ({ outcome: 'error', failure_class: 'verifier', evidence: message } as const);
  const validation_status = status === 'broken' ? 'skipped' : status;
  return { row: { ...row, ...outcome, validation_status }, own: {}, isDecided: false };
}

/** Read once, also for many cases. */
function fixtureOf(
  { fixture }: EvalDescription,
  root: string,
  known: Map<string, Promise<Fixture>>,
): Promise<Fixture> | undefined {
  if (fixture === undefined) return undefined;
  const reading = known.get(fixture) ?? readFixture(fixture, hiddenStoreOf({ root }));
  known.set(fixture, reading);
  return reading;
}

async function rescoreCase(
  row: CaseRow,
  { file, key, id, timeoutMs = ONE_HOUR_MS }: EvalDescription,
  {
    files,
    workers,
    root,
    repo,
    judge,
    room,
    hiddenTests,
    anew,
  }: {
    files: CaseLayout;
    workers: EvalWorkers;
    root: string;
    repo: string;
    judge: StoredJudge;
    room: CaseRooms;
    /** Names the hidden tests by their content, as they are now. */
    hiddenTests: string | undefined;
    /** The clean room decides again what it has decided. */
    anew: boolean;
  },
): Promise<Judged> {
  const turns: StoredTurn[] = JSON.parse(readFileSync(files.turns, 'utf8'));
  const { hiddenTests: storedTests, ...input } = JSON.parse(readFileSync(files.evalInput, 'utf8'));
  const { capabilities, flags, model, secretsKnown } = input;
  const lines = textOf(files.events).split('\n');
  const replayed = turns.map((turn) => ({
    ...turn,
    events: lines
      .slice(turn.firstIndex, turn.firstIndex + turn.eventCount)
      .map((line): StreamEvent => JSON.parse(line)),
  }));
  const request = { file, key, id, agentName: row.agent_name, capabilities, flags, model };
  const { calls, miscounted } = storedCalls(row.assertions ?? [], files, {
    ...{ repo, room, areTestsTheSame: storedTests === hiddenTests, anew },
  });
  using attempt = workers.open(request, {
    calls: {
      ...calls,
      judge: judge.judge,
      user: judge.user,
      judgeLane: judge.judgeLane,
      // What is stored was masked when it was written.
      masked: async (texts) => (secretsKnown ? [...texts] : undefined),
    },
    onLog: () => undefined,
    signal: AbortSignal.timeout(timeoutMs),
  });
  const { assertions: judgedAnew, failure, ...tested } = await attempt.replay(replayed);
  const wrong = miscounted();
  const assertions = judgedAnew.map((one) => {
    const message = wrong.get(one.name);
    const checked: AssertionRecord = message === undefined ? one : { ...one, status: 'unavailable', message };
    return placedBelow(checked, root);
  });
  const nothing = { validation: 'skipped', commands: [], hard: [], hardStatus: 'not_configured' } as const;
  const verdict = joinVerdicts({ ...nothing, commands: [], hard: [], protectedTouched: [] }, assertions, {
    ...tested,
    ...(failure && { failure: placedBelow(failure, root) }),
  });
  const { score: _, max_score: __, verifications: ___, ...rest } = row;
  const judged = { ...rest, ...assertionFields(assertions), ...present({ judge: judge.spent() }) };
  const own = {
    assertions: `${JSON.stringify(assertions, null, 2)}\n`,
    // The results of these assertions are those of the tests of now.
    ...(storedTests !== hiddenTests && {
      evalInput: `${JSON.stringify({ ...input, ...present({ hiddenTests }) })}\n`,
    }),
  };
  // Then the agent failed, or could not be driven, whatever the assertions say.
  const isDecided = turns.at(-1)?.status === 'failed' || isOfTheAgent(row);
  if (isDecided && verdict.skipped === undefined) return { row: judged, own, isDecided };
  const outcome =
    verdict.skipped !== undefined
      ? ({ outcome: 'skipped', failure_class: null, evidence: verdict.skipped } as const)
      : verdict.broken
        ? ({ outcome: 'error', failure_class: 'verifier', evidence: verdict.broken.evidence } as const)
        : verdict.failure !== undefined
          ? ({ outcome: 'failed', failure_class: 'agent', evidence: verdict.failure } as const)
          : ({ outcome: 'passed', failure_class: null, evidence: null } as const);
  return { row: { ...judged, ...outcome }, own, isDecided: verdict.skipped !== undefined };
}

/** Whether a case ended before its assertions could decide. */
const isOfTheAgent = ({ failure_class: kind }: CaseRow): boolean =>
  kind !== null && kind !== 'agent' && kind !== 'verifier';
