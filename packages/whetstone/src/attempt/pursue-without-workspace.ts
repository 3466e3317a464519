import { openAttemptFolder } from '@whetstone/agents/evaluator';
import type { CaseLayout } from '../record/layout.ts';
import { decideOutcome, type Outcome } from './decide-outcome.ts';
import { driveEval } from './drive-eval.ts';
import { findExposure } from './find-exposure.ts';
import { keepFolder } from './keep-folder.ts';
import { keepMetadata } from './keep-metadata.ts';
import type { Attempt, Lab, Trace } from './lab.ts';
import { openLane } from './open-lane.ts';
import { watchRequests } from './watch-requests.ts';

/** An eval of an agent that does not work on files: no tree, nothing that changes, and no clean room. */
export async function pursueWithoutWorkspace(
  attempt: Attempt,
  lab: Lab,
  files: CaseLayout,
  trace: Trace,
): Promise<Outcome> {
  await using folder = openAttemptFolder(lab.scratch);
  const watch = watchRequests(attempt.context);
  await using lane = await openLane(attempt, lab, files, watch.onRequest, { [folder.directory]: '<desk>' });
  if (lane) trace.calls = lane.ledger;
  attempt.onProgress?.({ phase: 'agent' });
  const startedAt = performance.now();
  trace.isDriving = true;
  await using driven = await driveEval(attempt, lab, { lane, folder, files }, trace).finally(() => {
    trace.agentSeconds = (performance.now() - startedAt) / 1000;
  });
  trace.isDriving = false;
  const { turn } = driven;
  const exposure = findExposure(attempt.context, turn.events, { sight: lane && watch.sight });
  if (exposure) trace.exposure = exposure;
  keepMetadata(turn, { attempt, lab, trace, file: files.agent });
  attempt.signal.throwIfAborted();
  trace.artifactNotes.push(
    ...(await keepFolder(folder.outputDir, files.output, { mask: lab.mask, name: 'output' })),
  );
  trace.verification = await driven.judge({
    ...{ validation: 'skipped', commands: [], hard: [], hardStatus: 'not_configured', protectedTouched: [] },
  });
  return decideOutcome({
    ...{ turn, calls: trace.calls, gatewayMode: lab.gateway?.mode, verification: trace.verification },
  });
}
