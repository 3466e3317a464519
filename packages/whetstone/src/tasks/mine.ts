import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Config, EnvironmentConfig, OverlayOperation, TaskConfig } from '../config/config.ts';
import { readTaskFolder, TASK_FILE } from '../config/read-task-file.ts';
import type { EnvironmentEvent } from '../environment/open-environments.ts';
import type { Candidate, Candidates } from './candidate.ts';
import { findCandidates } from './candidates.ts';
import type { Draft } from './draft.ts';
import { type IntroducedNames, introducedNames } from './introduced-names.ts';
import type { Method } from './methods.ts';
import { type MiningEntry, openJournal } from './mining-journal.ts';
import { type MiningRooms, openMiningRooms } from './mining-rooms.ts';
import type { FindIssue } from './read-issues.ts';
import { commitsNamed } from './references.ts';
import type { ScanOptions } from './scan-history.ts';
import { promptsBefore, type SessionTurn } from './session-prompts.ts';
import { type Statement, type StatementSource, statementSources, stateTask } from './statement.ts';
import type { TaskRoom } from './task-room.ts';
import type { Validation } from './validate.ts';
import { changeableBy, startTask, type TaskSetup, writeTask } from './write-task.ts';
import { type StatementWriter, writtenStatement } from './written-statement.ts';

export type MineOptions = {
  repo: Config['repo'];
  sandbox: Config['sandbox'];
  /** The folder of the tasks, absolute. */
  out: string;
  method: Method;
  scan: ScanOptions;
  issues: FindIssue;
  /** Turns of sessions with agents, sorted by time. */
  sessions: readonly SessionTurn[];
  /** Writes a statement where no text is good enough. Default: the failing tests are the statement. */
  writer?: StatementWriter | undefined;
  /** What the tests need: once for all trees with the same lock files. */
  environment: EnvironmentConfig | undefined;
  /**
   * The same with the scripts of the project itself, which need its sources and so an installation for each tree. It is only
   * used where tests lack something without. Absent: `environment` runs them, or there are none.
   */
  environmentWithScripts?: EnvironmentConfig | undefined;
  /** In each run of the tests. */
  setup: TaskSetup;
  /** How often the tests run without and with the sources: a whole number from 2. */
  repeat: number;
  /** Candidates tried at the same time. */
  jobs: number;
  /** No more new tasks than these. */
  limit: number;
  signal: AbortSignal;
  onEnvironment?: (event: EnvironmentEvent) => void;
  onTried: (entry: MiningEntry, progress: { tried: number; of: number }) => void;
};

export type Mined = Omit<Candidates, 'draft'> & {
  /** Of this call, in the order of the candidates. */
  tried: MiningEntry[];
  /** Candidates that an earlier call has tried with the same settings, or whose task exists. */
  known: MiningEntry[];
  /** Candidates that were not tried, because the limit was reached or the work was stopped. */
  untried: number;
  /** Whether it ended because the tests of none of the first candidates could be run. */
  isBroken: boolean;
  /** Whether tasks of this folder need `environmentWithScripts`. */
  needsScripts: boolean;
};

/** If the tests of so many candidates cannot be run, and of none they can, the others are not tried. */
const FIRST = 3;

/** The version of the rules: a change of what counts as a valid task tries all candidates again. */
const RULES = 3;

/** What `prepare` printed, in the folder of the tasks. */
export const PREPARE_LOGS = '.prepare-logs';
/** What models have written, so that nothing is paid twice. */
const WRITTEN = '.statements';
/** There a task is made. It gets its place when it has been judged, so that a killed process leaves no half of it there. */
const UNFINISHED = '.mining';

/** Makes tasks of the history of a repository. Each candidate that was tried is remembered in the folder of the tasks. */
export async function mineTasks(options: MineOptions): Promise<Mined> {
  const { out, limit, method, signal } = options;
  const removeUnfinished = () => rm(join(out, UNFINISHED), { recursive: true, force: true });
  await removeUnfinished();
  const { draft, ...found } = await findCandidates(method, options.repo.path, options.scan);
  const { candidates } = found;
  const journal = await openJournal(out);
  const key = keyOf(options);
  const entryOf = ({ id }: Candidate) => journal.entryOf(method, id);
  const isSettled = (entry?: MiningEntry) => entry?.key === key && entry.status !== 'broken';
  // A task that is there stays as it is, because a person may have edited it.
  const isKnown = (one: Candidate) => isSettled(entryOf(one)) || existsSync(join(out, one.task, TASK_FILE));
  const known = candidates.filter(isKnown).flatMap((one) => entryOf(one) ?? []);
  const waiting = candidates.filter((one) => !isKnown(one));
  const tried: MiningEntry[] = [];
  let written = 0;
  let running = 0;
  let next = 0;
  let stopped: WhetstoneError | undefined;
  let haveTestsRun = false;
  const isBroken = () => !haveTestsRun && tried.filter(({ status }) => status === 'broken').length >= FIRST;
  const onTestsRun = () => {
    haveTestsRun = true;
  };
  if (waiting.length > 0) {
    const { environmentWithScripts: withScripts } = options;
    const place = { ...options, withheld: [], logs: join(out, PREPARE_LOGS) };
    const scripts = { withScripts, areNeeded: journal.needsScripts() };
    await using rooms = await openMiningRooms(place, scripts);
    const work = async () => {
      while (!signal.aborted && !stopped && !isBroken() && written + running < limit) {
        const candidate = waiting[next++];
        if (!candidate) return;
        running += 1;
        const entry = await tryCandidate(candidate, { ...options, rooms, key, draft, onTestsRun }).finally(
          () => {
            running -= 1;
          },
        );
        if (signal.aborted) return;
        if (entry instanceof WhetstoneError) {
          stopped = entry;
          return;
        }
        if (entry.status === 'task') written += 1;
        await journal.add(entry);
        tried.push(entry);
        options.onTried(entry, { tried: tried.length, of: waiting.length });
      }
    };
    await Promise.all(Array.from({ length: options.jobs }, work));
    await removeUnfinished();
    if (stopped) throw stopped;
  }
  const order = new Map(waiting.map(({ id }, index) => [id, index]));
  tried.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
  const untried = waiting.length - tried.length;
  return { ...found, tried, known, untried, isBroken: isBroken(), needsScripts: journal.needsScripts() };
}

const keyOf = ({ environment, setup, repeat }: MineOptions): string =>
  createHash('sha256')
    .update(JSON.stringify([RULES, environment, setup, repeat]))
    .digest('hex')
    .slice(0, 16);

type Trying = MineOptions &
  Pick<Candidates, 'draft'> & {
    rooms: MiningRooms;
    key: string;
    onTestsRun: () => void;
  };

/** Resolves with an error if the next candidate would meet it as well. */
async function tryCandidate(candidate: Candidate, options: Trying): Promise<MiningEntry | WhetstoneError> {
  const start = performance.now();
  const result = await makeTask(candidate, options).catch((error: unknown) =>
    error instanceof WhetstoneError && error.code === 'statement-not-written'
      ? error
      : { refused: 'it could not be tried', evidence: messageOf(error), isBroken: true },
  );
  if (result instanceof WhetstoneError) return result;
  const entry = {
    ...{ method: options.method, id: candidate.id, key: options.key, subject: candidate.subject },
    seconds: Math.round((performance.now() - start) / 100) / 10,
  };
  if ('refused' in result) {
    const { refused: reason, evidence, isBroken } = result;
    return { ...entry, status: isBroken ? 'broken' : 'refused', reason, ...present({ evidence }) };
  }
  const { task, grade, excluded, needsScripts } = result;
  return { ...entry, status: 'task', task, grade, excluded, ...(needsScripts && { needs_scripts: true }) };
}

type Made =
  | { task: string; grade: string; excluded: Validation['excluded']; needsScripts: boolean }
  | { refused: string; evidence?: string; isBroken?: boolean };

/** Validates a candidate, writes its task, and lets the clean room judge the task as it is written. */
async function makeTask(candidate: Candidate, options: Trying): Promise<Made> {
  const { repo, rooms, setup, repeat, signal } = options;
  const drafted = await options.draft(candidate);
  if (typeof drafted === 'string') return { refused: drafted };
  const folder = join(options.out, UNFINISHED, drafted.id);
  await using started = await startTask(folder, drafted);
  const task = draftTask(drafted, setup, started);
  const validated = await rooms.validate(drafted, task, { repeat, signal });
  if (!('isBroken' in validated)) options.onTestsRun();
  if ('refused' in validated) return validated;
  const { validation, room, needsScripts } = validated;
  const draft = { ...drafted, tests: { ...drafted.tests, files: validation.files } };
  const names = await introducedNames(repo.path, draft);
  const { commit } = candidate;
  const sources = commit
    ? await statementSources(commit, options.issues, promptsBefore(commit, options.sessions))
    : [];
  const statement = await stateDraft(draft, validation.failToPass, { ...options, sources, names, candidate });
  await writeTask(folder, { draft, statement, validation, setup });
  const refused = await judgeWritten(folder, draft, room, signal);
  if (refused) return refused;
  await started.keep(join(options.out, draft.id));
  return { task: draft.id, grade: statement.grade, excluded: validation.excluded, needsScripts };
}

/** The statement of a task: a text, else what a model writes if there is one, else its tests. */
async function stateDraft(
  draft: Draft,
  failToPass: readonly string[],
  {
    sources,
    names,
    candidate,
    repo,
    out,
    writer,
  }: Trying & { sources: StatementSource[]; names: IntroducedNames; candidate: Candidate },
): Promise<Statement> {
  const stateBy = async (texts: StatementSource[]) => {
    const commits = await commitsNamed(
      repo.path,
      texts.map(({ text }) => text),
    );
    return stateTask(draft, failToPass, { sources: texts, names, commits });
  };
  const statement = await stateBy(sources);
  if (statement.grade !== 'tests' || !writer) return statement;
  const message = candidate.commit?.message ?? candidate.subject;
  const written = await writtenStatement(draft, { failToPass, names, message }, writer, join(out, WRITTEN));
  return stateBy([...sources, written]);
}

/** The task as far as the clean room needs it; which of its tests count is not known yet. */
const draftTask = (
  draft: Draft,
  setup: TaskSetup,
  { hiddenTests, overlays }: { hiddenTests: string; overlays: OverlayOperation[] },
): TaskConfig => ({
  id: draft.id,
  prompt: '',
  repoRef: draft.base,
  setup: (setup.setup ?? []).map((script) => ({ kind: 'shell', script })),
  validation: { commands: [], tests: { ...draft.tests, mustPass: [] }, ...timeLimit(setup) },
  ...{ hiddenTests, overlays, protectedPaths: [], changeablePaths: changeableBy(draft), extra: {} },
  ...present({ setupTimeoutSeconds: setup.setupTimeoutSeconds }),
});

const timeLimit = ({ timeoutSeconds }: TaskSetup) => present({ timeoutSeconds });

/** The last time: the task must fail without work, and pass with that of the commit. */
async function judgeWritten(folder: string, draft: Draft, room: TaskRoom, signal: AbortSignal) {
  const task = await readTaskFolder(folder);
  for (const [patch, wanted] of [
    [null, 'failed'],
    [draft.goldPatch, 'passed'],
  ] as const) {
    const { validation, failure, broken, tests } = await room.judge(task, patch, { signal });
    if (broken || !tests) {
      const evidence = broken?.evidence ?? failure ?? 'the tests did not run';
      return { refused: 'its task could not be judged', evidence, isBroken: true };
    }
    if (validation === wanted) continue;
    const evidence = failure ?? 'it passed';
    const tree = patch === null ? 'without' : 'with';
    return {
      refused: `its task did not ${wanted === 'passed' ? 'pass' : 'fail'} ${tree} its sources`,
      evidence,
    };
  }
  return undefined;
}
