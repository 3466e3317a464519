import { basename, dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Limits, Mask, Sandbox, SandboxProvider } from '@whetstone/sandbox';
import type { ServiceConfig, TaskConfig, TaskTests } from '../config/config.ts';
import { changeableIn, isRunnerSettings, shortProtected } from '../config/default-protected-paths.ts';
import type { CommandRow, HardCheckRow } from '../record/row.ts';
import { displayPath } from '../workspace/tree-path.ts';
import type { Changes, Snapshot, Workspace, Workspaces } from '../workspace/workspace.ts';
import { openAnswerFiles } from './answer-files.ts';
import { checkCommands, checkTree, touchedPaths } from './hard-checks.ts';
import { type Coin, type MaskPlan, maskPair, type Mask as TestMask } from './masks/exchange-twins.ts';
import { literalSlots, maskedVerdict, trueReport } from './masks/masked-verdict.ts';
import { readSettings, restoreSettings } from './restore-settings.ts';
import {
  describeResult,
  type RanCommand,
  runCommands,
  succeeded,
  VALIDATION_LIMIT_SECONDS,
} from './run-commands.ts';
import { placeServices, serviceVariables, startServices } from './run-services.ts';
import { runSetup } from './run-setup.ts';
import { runnerFiles } from './runner-files.ts';
import { keptFromBase, shieldOf } from './shield.ts';
import { problemOf, type RanTests, runTests, type Surroundings } from './tests/run-tests.ts';
import type { TestReport } from './tests/test-runner.ts';

/**
 * The clean room: new workspace, new sandbox, pristine tree, the agent's changes, hidden tests. Exit codes of commands and
 * the reports of tests decide.
 */
export type Verification = {
  validation: 'passed' | 'failed' | 'skipped';
  commands: CommandRow[];
  hard: HardCheckRow[];
  hardStatus: 'not_configured' | 'passed' | 'failed';
  /** Display paths of protected files that the agent changed. In the clean room they are as in the base. */
  protectedTouched: string[];
  /** What the runner of the task's tests reported. Absent where the task has none, or where they did not run. */
  tests?: TestReport;
  /** What decided. Absent: nothing ran. Code under test can fake exit codes without any effort. */
  judgedBy?: 'masked-tests' | 'test-report' | 'exit-codes';
  /** What the masks of the tests were. Only where tests were masked. */
  masks?: MaskFacts;
  /** Whether the reports of masked tests contradict each other, as no code does that only answers. */
  isCheating?: true;
  /** Set when the clean room itself could not work. The case is then missing data, not failed. */
  broken?: { class: 'verifier' | 'task'; evidence: string };
  /** Why an eval ended itself with `t.skip`. Nothing counts then. */
  skipped?: string;
  /** What did not pass, in one sentence. It becomes the evidence of the outcome. */
  failure?: string;
};

/**
 * Prepares the environment for a tree in which an agent changed what the preparation depends on, as far as `keep` accepts
 * the changes, by display path. What runs tests in it is as in the pristine one; `kept` are short paths of that which was
 * not. Nothing of it is stored; `logs` gets the output. `undefined`: no such path was changed.
 */
export type PrepareAgain = (
  snapshot: Snapshot,
  changes: Changes,
  keep: (path: string) => boolean,
  logs: string,
) => Promise<(AsyncDisposable & { snapshot: Snapshot; kept: readonly string[] }) | undefined>;

export type VerifyInput = {
  task: TaskConfig;
  snapshot: Snapshot;
  changes: Changes;
  /** Whether the agent ended by itself and successfully. Some hard checks depend on it. */
  agentCompleted: boolean;
  /** The structured answer of the agent, for the commands. */
  answer?: JsonObject | undefined;
  workspaces: Workspaces;
  sandboxes: SandboxProvider;
  /** Started for the commands. */
  services: readonly ServiceConfig[];
  /** Absent: there is no environment. */
  environments?: { prepareAgain: PrepareAgain };
  /** A folder that is laid over the tree beside the hidden tests. Default: none. */
  beside?: string;
  /** The folder for logs, made when needed. */
  directory: string;
  /** Default: yes. Messages do not name logs that nobody can read later. */
  logsAreKept?: boolean;
  /** Surroundings of the task's tests, for finding those that depend on them. Default: none. */
  surroundings?: Surroundings;
  /** How the tests of the task are masked. Default: they run once, as they are. */
  masking?: MaskPlan;
  /** Decides which tests are true. Default: secret. */
  coin?: Coin;
  /** Smaller limits than those of the sandboxes, for the limits that these have. Default: those. */
  limits?: Limits;
  /** Texts of test files in place of those of the hidden tests, and nothing runs but the tests, tersely. For calibrating masks. */
  trial?: ReadonlyMap<string, string>;
  mask: Mask;
  signal: AbortSignal;
};

/** Tests that could have a twin, those that have one that serves, how many of these change an expected literal, pairs of runs. */
export type MaskFacts = { tests: number; slots: number; literal: number; rounds: number };

/** One of several runs of the tests, each in a room of its own. */
type MaskedRoom = {
  plan: MaskPlan;
  mask: TestMask;
  /** The runs before this one. */
  earlier: { mask: TestMask; tests: RanTests }[];
  /** Whether this room also runs the commands, and decides. */
  isLast: boolean;
};
type RoomInput = VerifyInput & { masked?: MaskedRoom };

export async function verify(input: VerifyInput): Promise<Verification> {
  const { changes } = input;
  const isProtected = await shieldOf(input.task);
  const touched = new Set(touchedPaths(changes).filter(isProtected));
  const protectedTouched = [...new Set([...touched].map(shortProtected))];
  const keep = (path: string) => !touched.has(path);
  let failure: string | undefined;
  await using own = await input.environments
    ?.prepareAgain(input.snapshot, changes, keep, join(input.directory, 'prepare'))
    .catch((error: unknown) => {
      if (!(error instanceof WhetstoneError) || error.class !== 'task') throw error;
      failure = `with the agent's changes of what \`prepare\` reads: ${error.message}`;
      return undefined;
    });
  if (failure !== undefined) return failedBefore(protectedTouched, failure);
  const { snapshot } = own ?? input;
  protectedTouched.push(...(own?.kept ?? []));
  const isChangeable = changeableIn(input.task);
  const fill = async (workspace: Workspace, notes: string[]): Promise<Filled> => {
    const isOfRunner = await runnerFiles(input.task, workspace);
    const ofRunner = touchedPaths(changes).filter((path) => keep(path) && isOfRunner(path));
    const keepsHere = (path: string) => keep(path) && !isOfRunner(path);
    const settings = await readSettings(workspace, changes, (path) => keepsHere(path) && !isChangeable(path));
    await workspace.apply(changes, keepsHere);
    // The agent can have replaced a whole folder that holds protected paths.
    if (touched.size + ofRunner.length > 0)
      await workspace.restore((path) => isProtected(path) || isOfRunner(path));
    const restored = await restoreSettings(workspace, settings);
    notes.push(...ofRunner, ...restored.notes);
    return { texts: restored.texts, isOfRunner };
  };
  const verification = await judgeInRooms({ ...input, snapshot }, protectedTouched, fill);
  const { broken, ...rest } = verification;
  // What breaks the clean room only with the agent's changes is the agent's failure, and not missing data.
  if (broken && changes.files.length > 0 && !(await isBrokenWithoutChanges(input)))
    return { ...rest, failure: `${broken.evidence}; this does not happen without the agent's changes` };
  return verification;
}

/** The commands did not run, because the environment for them could not be made. */
const failedBefore = (protectedTouched: string[], failure: string): Verification => ({
  ...{
    validation: 'failed',
    commands: [],
    hard: [],
    hardStatus: 'not_configured',
    protectedTouched,
    failure,
  },
});

/** Judges in one room, or, where tests are masked, in one for each mask. No room has anything of another. */
async function judgeInRooms(
  input: VerifyInput,
  protectedTouched: readonly string[],
  fill: (workspace: Workspace, notes: string[]) => Promise<Filled>,
): Promise<Verification> {
  const inRoom = (masked?: MaskedRoom) => {
    const touched = [...protectedTouched];
    const of = { ...input, ...present({ masked }) };
    return judgeIn(of, touched, (workspace) => fill(workspace, touched));
  };
  const { masking: plan, coin } = input;
  if (!plan) return inRoom();
  const masks: TestMask[] = [];
  for (let round = 0; round < plan.rounds; round += 1) masks.push(...(await maskPair(plan, coin)));
  const earlier: MaskedRoom['earlier'] = [];
  for (const mask of masks.slice(0, -1)) {
    const verification = await inRoom({ plan, mask, earlier, isLast: false });
    if (earlier.at(-1)?.mask !== mask) return verification; // the tests did not run
  }
  const mask = masks.at(-1);
  const verification = await (mask ? inRoom({ plan, mask, earlier, isLast: true }) : inRoom());
  for (const { tests } of earlier) await tests.writeLogs();
  return verification;
}

/** What is put back whenever code of the agent has run: texts by path, and files that runners load. */
type Filled = { texts: ReadonlyMap<string, string>; isOfRunner: (path: string) => boolean };

/** Makes a new workspace, calls `fill`, adds the hidden tests, and starts a new sandbox in it. */
async function judgeIn(
  input: RoomInput,
  protectedTouched: string[],
  fill: (workspace: Workspace) => Promise<Filled>,
): Promise<Verification> {
  await using workspace = await input.workspaces.create(input.snapshot);
  const filled = await fill(workspace);
  await layTests(input, workspace);
  const services = await placeServices(input.services);
  const env = serviceVariables(services);
  await using sandbox = await input.sandboxes.start({
    ...{ workdir: workspace.path, ...workspace.place, env: { ...QUIET_NPM, ...env } },
    ...present({ limits: input.limits }),
  });
  const { mask, signal } = input;
  const shown = input.logsAreKept === false ? undefined : `${basename(input.directory)}/services`;
  const where = { directory: join(input.directory, 'services'), shown, mask, signal };
  const running = await startServices(sandbox, services, where).catch((error: unknown) => {
    if (!(error instanceof WhetstoneError) || error.code !== 'service-not-ready') throw error;
    return error;
  });
  if (running instanceof WhetstoneError) {
    const broken = { class: 'task' as const, evidence: running.message };
    return { ...failedBefore(protectedTouched, running.message), broken };
  }
  const verification = namingRequests(
    await judge(input, { workspace, sandbox, filled }, protectedTouched),
    sandbox,
    mask,
  );
  const ended = await running.ended();
  // Tests that pass because they leave out what needs the service show nothing either.
  return ended === undefined ? verification : { ...verification, broken: { class: 'task', evidence: ended } };
}

/** Else `npm test` asks whether there is a newer npm, and that stands beside each failure as a name that was not reached. */
const QUIET_NPM = { npm_config_update_notifier: 'false' };

/** A check that needs the network fails only in a sealed sandbox, and its output may not say why. */
function namingRequests(verification: Verification, sandbox: Sandbox, mask: Mask): Verification {
  const refused = (sandbox.hostRequests() ?? []).filter((request) => request.refused !== undefined);
  const names = [...(sandbox.namesAsked() ?? []), ...new Set(refused.map(({ host }) => host))];
  if (verification.failure === undefined || names.length === 0) return verification;
  const asked = mask.text(names.slice(0, 3).join(', '));
  const failure = `${verification.failure} (in the clean room, something asked for ${asked}, which this sandbox does not reach)`;
  return { ...verification, failure };
}

type Room = { workspace: Workspace; sandbox: Sandbox; filled: Filled };

const UNCHANGED: Filled = { texts: new Map(), isOfRunner: () => false };

/** Whether the clean room cannot work on the pristine tree either. Then the task is at fault, not the agent. */
async function isBrokenWithoutChanges(input: VerifyInput): Promise<boolean> {
  const directory = join(input.directory, 'without-changes');
  const verification = await judgeIn({ ...input, directory }, [], async () => UNCHANGED);
  return verification.broken !== undefined;
}

/**
 * Commands run code of the agent. Files that setup made in protected folders stay, where the base has none. Settings of test
 * runners that nobody but such code wrote do not.
 */
async function protectAgain(input: RoomInput, { workspace, filled }: Room): Promise<void> {
  const { task, snapshot } = input;
  const inBase = new Set([...snapshot.entries.keys()].map(displayPath));
  const isOfBase = keptFromBase(task);
  await workspace.restore((path) =>
    inBase.has(path) ? isOfBase(path) || filled.isOfRunner(path) : isOfBase(path) && isRunnerSettings(path),
  );
  await workspace.write(filled.texts);
  await layTests(input, workspace);
}

async function layTests({ task, beside, masked, trial }: RoomInput, workspace: Workspace): Promise<void> {
  const texts = masked?.mask.texts ?? trial ?? new Map<string, string>();
  // A service may be running meanwhile, which must not see the true tests.
  const leftOut = new Set(texts.keys());
  for (const folder of [task.hiddenTests, beside])
    if (folder !== undefined) await workspace.lay(folder, leftOut);
  await workspace.write(texts);
}

async function judge(input: RoomInput, room: Room, protectedTouched: string[]): Promise<Verification> {
  const { task, changes } = input;
  const { timeoutSeconds = VALIDATION_LIMIT_SECONDS } = task.validation;
  const { workspace, sandbox } = room;
  const hardTree = await checkTree(task.hardEvaluation, workspace.path, changes, input.agentCompleted);
  const where = { directory: input.directory, mask: input.mask, signal: input.signal };
  const { ran: setup, failure: failedSetup } = await runSetup(sandbox, task, where);
  if (failedSetup !== undefined) {
    return {
      validation: 'failed',
      commands: setup.map(({ row }) => row),
      hard: hardTree,
      hardStatus: hardTree.length > 0 ? 'failed' : 'not_configured',
      protectedTouched,
      failure: `setup in the clean room: ${failedSetup}`,
    };
  }

  if (setup.length > 0) await protectAgain(input, room);
  // Before anything has seen the true tests.
  const masked = input.masked || input.trial ? await runOwnTests(input, room) : undefined;
  if (masked && input.masked) input.masked.earlier.push({ mask: input.masked.mask, tests: masked });
  if (masked && input.masked?.isLast !== true) return ranOnlyTests(masked, protectedTouched);
  const { masked: _, ...truly } = input;
  if (masked) await protectAgain(truly, room);
  await using answers = openAnswerFiles(input.answer, dirname(workspace.path));
  const validation = await runCommands(sandbox, task.validation.commands, {
    ...where,
    prefix: 'validation',
    stopAtFailure: false,
    between: () => protectAgain(truly, room),
    env: answers.lay,
    timeoutMs: timeoutSeconds * 1000,
  });
  if (validation.length > 0 && task.validation.tests && !masked) await protectAgain(truly, room);
  const tests = masked ?? (await runOwnTests(input, room));
  const ran: RanCommand[] = [...validation, ...(tests ? [tests] : [])];
  const missing = ran.find(({ result }) => result.exitCode === 127 || result.exitCode === 126);
  const failed = validation.find(({ result }) => !succeeded(result));
  const secret = task.validation.tests && input.masked && verdictOf(input.masked, task.validation.tests);
  const lacking = secret
    ? secret.failure
    : tests && task.validation.tests && problemOf(task.validation.tests, tests.report);
  const isFailed = failed !== undefined || lacking !== undefined;
  const status = ran.length === 0 ? 'skipped' : isFailed ? 'failed' : 'passed';
  if (ran.length > 0 && task.hardEvaluation?.commandChecks.length) await protectAgain(truly, room);
  const hardCommands = await checkCommands(task.hardEvaluation, sandbox, status, {
    answers,
    signal: input.signal,
  });
  const hard = [...hardTree, ...hardCommands];
  const failedCheck = hard.find((check) => check.status === 'failed');
  const failure = failed
    ? describeResult(failed)
    : (lacking ?? (failedCheck && `check ${failedCheck.name} failed: ${failedCheck.evidence}`));
  return {
    validation: status,
    commands: [...setup, ...(input.masked?.earlier.slice(0, -1) ?? []).map(({ tests }) => tests), ...ran].map(
      ({ row }) => row,
    ),
    hard,
    hardStatus: hard.length === 0 ? 'not_configured' : failedCheck ? 'failed' : 'passed',
    protectedTouched,
    ...(missing && {
      broken: {
        class: 'verifier' as const,
        evidence: `${describeResult(missing)}: the command was not found or could not be run`,
      },
    }),
    ...present({
      failure,
      tests: input.masked ? trueReport(input.masked.plan, runsOf(input.masked)) : tests?.report,
    }),
    ...present({ masks: input.masked && maskFacts(input.masked.plan) }),
    ...(secret?.isCheating && { isCheating: true }),
    ...(ran.length > 0 && { judgedBy: secret ? 'masked-tests' : tests ? 'test-report' : 'exit-codes' }),
  };
}

const runsOf = ({ earlier }: MaskedRoom) => earlier.map(({ mask, tests: { report } }) => ({ mask, report }));
const verdictOf = (room: MaskedRoom, expected: TaskTests) => maskedVerdict(room.plan, expected, runsOf(room));

export const maskFacts = ({ slots, rounds, tests }: MaskPlan): MaskFacts => ({
  tests,
  slots: slots.length,
  literal: literalSlots(slots),
  rounds,
});

/** Of a room that is not the last of its grading, or only for calibrating. */
const ranOnlyTests = ({ row, report }: RanTests, protectedTouched: string[]): Verification => ({
  ...{ validation: 'skipped', commands: [row], hard: [], hardStatus: 'not_configured', protectedTouched },
  tests: report,
});

/** The tests of the task, whose report decides; the exit code of the runner does not count. */
async function runOwnTests(input: RoomInput, room: Room): Promise<RanTests | undefined> {
  const { tests, timeoutSeconds = VALIDATION_LIMIT_SECONDS } = input.task.validation;
  if (!tests) return undefined;
  const { directory, mask, signal, surroundings } = input;
  const tree = room.workspace.path;
  const { masked } = input;
  return runTests(room.sandbox, tests, {
    ...{ tree, directory, mask, signal },
    ...(masked && { name: `tests-${masked.earlier.length}`, holdsLogs: !masked.isLast }),
    isTerse: masked !== undefined || input.trial !== undefined,
    timeoutMs: timeoutSeconds * 1000,
    ...present({ surroundings }),
  });
}
