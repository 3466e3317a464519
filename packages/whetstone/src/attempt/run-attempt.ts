import { writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { openAttemptFolder } from '@whetstone/agents/evaluator';
import { firstError, messageOf, WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Sandbox } from '@whetstone/sandbox';
import type { CaseLayout } from '../record/layout.ts';
import type { CaseRow, InfrastructureFailure } from '../record/row.ts';
import { placeServices, serviceVariables, startServices } from '../verify/run-services.ts';
import { runSetup } from '../verify/run-setup.ts';
import { verify } from '../verify/verify.ts';
import { checkParents } from '../workspace/check-parents.ts';
import { instructionsFor } from '../workspace/instructions-for.ts';
import type { Snapshot, Workspace } from '../workspace/workspace.ts';
import { blameAgent } from './blame-agent.ts';
import { buildRow } from './build-row.ts';
import { checkedAnswer } from './check-answer.ts';
import { decideOutcome, inTurn, type Outcome } from './decide-outcome.ts';
import { doorsTo } from './doors.ts';
import { drive, type TurnResources } from './drive.ts';
import { type DrivenEval, driveEval } from './drive-eval.ts';
import { exceededBy } from './exceeded-limits.ts';
import { canariesOf, watchCanaries } from './find-canaries.ts';
import { findExposure } from './find-exposure.ts';
import { findTampering } from './find-tampering.ts';
import { describeFirstRequest, readInstructionFiles } from './first-request.ts';
import { keepFileChanges } from './keep-file-changes.ts';
import { keepFolder } from './keep-folder.ts';
import { keepMetadata } from './keep-metadata.ts';
import { keepPatch } from './keep-patch.ts';
import { type Attempt, type Lab, plannedTurns, type Trace, type Workplace } from './lab.ts';
import { maskValues } from './mask-values.ts';
import { openO11yFolder } from './o11y-folder.ts';
import { openLane } from './open-lane.ts';
import { pursueWithoutWorkspace } from './pursue-without-workspace.ts';
import { watchRequests } from './watch-requests.ts';
import { writeReview } from './write-review.ts';

/** Runs one case, from workspace to outcome. Rejects only when it was aborted: an aborted case counts as not run. */
export async function runAttempt(attempt: Attempt, lab: Lab): Promise<CaseRow> {
  const startedAt = new Date();
  const start = performance.now();
  const files = await lab.record.startCase(attempt.planned.id, attempt.earlier);
  const trace: Trace = { turnsSent: 0, turns: [], calls: [], checks: [], artifactNotes: [] };
  let outcome: Outcome;
  try {
    outcome = await pursue(attempt, lab, files, trace);
  } catch (thrown) {
    attempt.signal.throwIfAborted();
    const error = firstError(thrown);
    const turns = { sent: trace.turnsSent, planned: plannedTurns(attempt.task) };
    const evidence = trace.isDriving ? inTurn(turns, describeError(error)) : describeError(error);
    outcome = { status: 'error', class: classOf(error), evidence };
  }
  attempt.signal.throwIfAborted();
  const tampering = await findTampering(attempt, lab, trace);
  if (tampering !== undefined) outcome = { status: 'error', class: 'tampered', evidence: tampering };
  const took = Math.round(performance.now() - start) / 1000;
  const row = buildRow({ attempt, lab, outcome, trace, startedAt, seconds: took });
  if (!(await writeReview(row, attempt, files, lab))) return row;
  return { ...row, soft_evaluation_status: 'payload_generated' };
}

async function pursue(attempt: Attempt, lab: Lab, files: CaseLayout, trace: Trace): Promise<Outcome> {
  if (attempt.task.eval && attempt.agent.capabilities?.workspace !== true) {
    return pursueWithoutWorkspace(attempt, lab, files, trace);
  }
  const { workplace } = lab;
  if (!workplace) throw new TypeError(`Case ${attempt.planned.id} works on files, and the run has none.`);
  writeFileSync(files.prompt, lab.mask.text(attempt.prompt));
  const { variant, agentConfig, task } = attempt;
  const instructions = instructionsFor(variant, agentConfig, attempt.context.instructions);
  const overlays = [...(task.overlays ?? []), ...variant.overlays];
  const { environments } = workplace;
  const bare = await workplace.workspaces.prepare(attempt.commit, overlays, instructions);
  const snapshot = environments ? await environments.equip(bare) : bare;
  trace.snapshot = snapshot;
  if (snapshot.environment) trace.environment = snapshot.environment;
  await using workspace = await workplace.workspaces.create(snapshot);
  await using _kept = keptInTheEnd(workspace, attempt, lab, files, trace);
  try {
    return await pursueIn({ workspace, snapshot, workplace }, attempt, lab, files, trace);
  } catch (thrown) {
    attempt.signal.throwIfAborted();
    const error = firstError(thrown);
    const { workspaces } = workplace;
    const isDone = trace.isGrading === true;
    const outcome = await blameAgent(error, { workspace, workspaces, snapshot, isDone });
    if (!outcome) throw error;
    return outcome;
  }
}

type PreparedCase = { workspace: Workspace; snapshot: Snapshot; workplace: Workplace };

async function pursueIn(
  { workspace, snapshot, workplace }: PreparedCase,
  attempt: Attempt,
  lab: Lab,
  files: CaseLayout,
  trace: Trace,
): Promise<Outcome> {
  const { agentConfig } = attempt;
  // Beside the workspace, because of the scratch folder a command sees nothing else.
  await using folder = openAttemptFolder(dirname(workspace.path));
  const services = await placeServices(workplace.services);
  const env = serviceVariables(services);
  await using sandbox = await workplace.sandboxes.start({
    ...{ workdir: workspace.path, env },
    ...workspace.place,
    ...doorsTo(lab.gateway),
  });
  await using _measured = usageKept(sandbox, workspace, trace);
  const watch = watchRequests(attempt.context);
  const canaries = watchCanaries(await canariesOf(attempt.task));
  const names = {
    [sandbox.home]: '<home>',
    // The other folders of the sandbox are beside its home.
    [dirname(sandbox.home)]: '<sandbox>',
    [sandbox.workdir]: '<workspace>',
    // With an environment the same folder is seen at both paths.
    [workspace.path]: '<workspace>',
    [folder.directory]: '<desk>',
  };
  const onRequest: typeof watch.onRequest = (request) => {
    watch.onRequest(request);
    canaries.onRequest(request.body);
  };
  await using lane = await openLane(attempt, lab, files, onRequest, names);
  if (lane) trace.calls = lane.ledger;

  const { signal } = attempt;
  const where = { directory: files.services, shown: basename(files.services), mask: lab.mask, signal };
  const running = await startServices(sandbox, services, where);
  await setUp(attempt, lab, sandbox, workspace, files);
  const instructionFiles =
    lane && (await readInstructionFiles(workspace.path, snapshot.instructionFiles, agentConfig));
  const parents = dirname(dirname(workspace.path));
  checkParents(parents);
  attempt.onProgress?.({ phase: 'agent' });
  const driveStart = performance.now();
  trace.isDriving = true;
  const resources = { sandbox, lane, folder, files, workspace };
  await using driven = await driveTask(attempt, lab, resources, trace).finally(async () => {
    trace.agentSeconds = (performance.now() - driveStart) / 1000;
    const { first } = watch.sight;
    if (!lane || !first || !instructionFiles) return;
    const place = { lane, names, commit: snapshot.sealedCommit };
    trace.seen = await describeFirstRequest(first, instructionFiles, place);
  });
  trace.isDriving = false;
  const { turn } = driven;
  const sight = lane && watch.sight;
  const instructionsPath = snapshot.placed?.path;
  const exposure = findExposure(attempt.context, turn.events, { sight, instructionsPath });
  if (exposure) trace.exposure = exposure;
  keepMetadata(turn, { attempt, lab, trace, file: files.agent });
  trace.serviceEnded = await running.ended();
  workspace.disk(); // before the folders of the sandbox go
  await sandbox.stop(); // the whole tree, before anything is read
  trace.disk = workspace.disk();
  const exceeded = exceededBy({ usage: sandbox.usage(), disk: trace.disk });
  attempt.signal.throwIfAborted();
  checkParents(parents); // another case can have written there meanwhile
  trace.isGrading = true;

  attempt.onProgress?.({ phase: 'verification' });
  // An eval can look at the tree at any time.
  trace.changes = await workspace.changes({ lends: !attempt.task.eval });
  const changed = keepFileChanges(trace.changes, files.events, lab);
  if (changed.length > 0) {
    const events = [...turn.events, ...changed];
    keepMetadata({ ...turn, events }, { attempt, lab, trace, file: files.agent });
  }
  const answer = attempt.task.outputSchema && checkedAnswer(turn);
  trace.artifactNotes.push(
    ...(await keepPatch(trace.changes, files.patch, lab)),
    ...(await keepFolder(folder.outputDir, files.output, { mask: lab.mask, name: 'output' })),
    ...(await keepAnswer(answer, files.outputData, lab)),
  );
  trace.contamination = canaries.found(files);
  await using o11y = attempt.task.o11yContext ? await openO11yFolder(turn.events, lab) : undefined;
  const masking = workplace.maskings?.get(attempt.task.id);
  if (masking && 'why' in masking) trace.unmasked = masking.why;
  const verification = await verify({
    task: attempt.task,
    snapshot,
    changes: trace.changes,
    agentCompleted: turn.status === 'completed',
    answer,
    ...workplace,
    ...(masking && 'plan' in masking && { masking: masking.plan }),
    directory: files.verify,
    ...(o11y && { beside: o11y.path }),
    mask: lab.mask,
    signal: attempt.signal,
  });
  trace.verification = await driven.judge(verification);
  return decideOutcome({
    turn,
    ...(!attempt.task.eval && { turns: { sent: trace.turnsSent, planned: plannedTurns(attempt.task) } }),
    calls: trace.calls,
    gatewayMode: lab.gateway?.mode,
    verification: trace.verification,
    ...present({ endedService: trace.serviceEnded }),
    exceeded,
  });
}

/** Also of an attempt that a step ends. */
const usageKept = (sandbox: Sandbox, workspace: Workspace, trace: Trace): AsyncDisposable => ({
  async [Symbol.asyncDispose]() {
    trace.usage = sandbox.usage();
    trace.disk ??= workspace.disk();
    const names = sandbox.namesAsked();
    if (names) trace.namesAsked = names;
    const requests = sandbox.hostRequests();
    if (requests) trace.hostRequests = requests;
  },
});

/** A task without an eval has its prompts, and only the clean room judges it. */
async function driveTask(
  attempt: Attempt,
  lab: Lab,
  resources: TurnResources & { workspace: Workspace },
  trace: Trace,
): Promise<DrivenEval> {
  if (attempt.task.eval) return driveEval(attempt, lab, resources, trace);
  const turn = await drive(attempt, lab, resources, trace);
  return { turn, judge: async (verification) => verification, [Symbol.asyncDispose]: async () => undefined };
}

async function setUp(
  attempt: Attempt,
  { mask }: Lab,
  sandbox: Sandbox,
  workspace: Workspace,
  files: CaseLayout,
): Promise<void> {
  if (attempt.task.setup.length === 0) return;
  attempt.onProgress?.({ phase: 'setup' });
  const where = { directory: files.setup, mask, signal: attempt.signal };
  const { failure } = await runSetup(sandbox, attempt.task, where);
  if (failure !== undefined) throw new WhetstoneError('task-setup-failed', `setup: ${failure}`);
  await workspace.rebase();
}

/** A failure of the attempt itself. Whatever the harness could not do has not measured the agent. */
function classOf(error: unknown): InfrastructureFailure {
  const known = error instanceof WhetstoneError ? error.class : 'harness';
  return known === 'task' || known === 'sandbox' ? known : 'harness';
}

function describeError(error: unknown): string {
  if (!(error instanceof WhetstoneError)) return messageOf(error);
  const { where, message, hint } = error;
  return `${where === undefined ? '' : `${where}: `}${message}${hint === undefined ? '' : ` ${hint}`}`;
}

/** With `--keep-workspace`: copies the tree, whatever the end of the case, once nothing runs in it any more. */
function keptInTheEnd(
  { path }: Workspace,
  { signal }: Attempt,
  { keepWorkspace, mask }: Lab,
  files: CaseLayout,
  trace: Trace,
): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      if (!keepWorkspace || signal.aborted) return;
      const limits = { bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };
      const notes = await keepFolder(path, files.workspace, { mask, name: 'workspace', limits }).catch(
        (error: unknown) => [`workspace: not all of it could be kept: ${mask.text(messageOf(error))}`],
      );
      trace.artifactNotes.push(...notes);
      trace.workspaceKept = true;
    },
  };
}

/** Writes the structured answer of a case, if any, with secrets masked. Resolves with notes for a reader. */
async function keepAnswer(data: JsonObject | undefined, file: string, { mask }: Lab): Promise<string[]> {
  if (!data) return [];
  const written = JSON.stringify(data, null, 2);
  // Names of fields are masked too, because the agent chose them.
  const kept = mask.text(JSON.stringify(maskValues(data, mask), null, 2));
  writeFileSync(file, `${kept}\n`, { mode: 0o600 });
  return kept === written ? [] : ['output-data.json: secrets were masked'];
}
