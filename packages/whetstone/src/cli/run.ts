import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { formatDiagnostics } from '../config/format-diagnostics.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { previewEnvironments } from '../environment/preview-environments.ts';
import { inPlan, type Selection } from '../plan/plan.ts';
import { escapedJson } from '../report/json.ts';
import type { Summary } from '../report/summary.ts';
import { keptDeclarations } from '../run/kept-declarations.ts';
import { checkCassettes } from '../run/open-gateway.ts';
import { casesToRun, type PlannedRun, planOrResume } from '../run/plan-or-resume.ts';
import { reasonsToRunAgain } from '../run/reasons-to-run-again.ts';
import { requireExecutables } from '../run/require-executables.ts';
import { startProblems } from '../run/start-problems.ts';
import { previewInstructions } from '../workspace/preview-instructions.ts';
import { listSubmodules } from '../workspace/submodules.ts';
import { askOnTerminal } from './ask-on-terminal.ts';
import { printDryRun } from './dry-run.ts';
import { openConfig } from './find-config.ts';
import { printError } from './print-error.ts';
import { printResult, runShown } from './run-shown.ts';
import type { Streams } from './streams.ts';
import { terminalColors } from './terminal-features.ts';

export type RunCommandOptions = {
  config?: string;
  tasks?: string;
  agent: string[];
  variant: string[];
  taskId: string[];
  category: string[];
  difficulty: string[];
  trials: number;
  jobs: number;
  maxTasks?: number;
  sequential?: boolean;
  bridge?: string;
  bridgeTasks?: number;
  seed?: string;
  dryRun?: boolean;
  resume?: string;
  failUnder?: number;
  keepWorkspace?: boolean;
  otlp?: string;
  interactive?: boolean;
  json?: boolean;
  draft?: boolean;
};

export async function runCommand(options: RunCommandOptions, streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  const { loaded, environment } = await openConfig(options);
  Object.assign(process.env, environment);
  const { config, warnings } = loaded;
  if (warnings.length > 0) {
    stderr.write(`${formatDiagnostics(warnings, { color: terminalColors(stderr).isColorSupported })}\n`);
  }
  const bridge = bridgeOf(options);
  const request = {
    config,
    selection: selectionOf(options),
    trials: options.trials,
    ...present({ seed: options.seed, resume: options.resume, sequential: options.sequential, bridge }),
  };
  if (options.dryRun) {
    const planned = await planOrResume(request);
    const { config, plan, resumed } = planned;
    const starting = casesToRun(plan, resumed?.rows);
    const problems = await problemsOf(loaded, planned, request.selection);
    const commits = plan.tasks.map(({ commit }) => commit);
    const submodules = await listSubmodules(config.repo.path, commits, planned.withheld);
    const instructions = await previewInstructions({
      ...{ config, commits },
      withheld: planned.withheld,
      variants: inPlan(config.variants, plan.variants),
      agents: inPlan(config.agents, plan.agents),
    });
    const again = [...reasonsToRunAgain(plan, resumed), ...keptDeclarations(config, plan, resumed)];
    const environment = await previewEnvironments(config, planned);
    await printDryRun(
      planned,
      { starting, again, problems, instructions, environment, submodules },
      { json: options.json ?? false, stdout },
    );
    for (const problem of problems) await printError(problem, streams, false);
    return problems.length === 0 ? 0 : 2;
  }

  // A wrong address is an error before the run, not after it.
  if (options.otlp !== undefined) (await import('../export/send-otlp.ts')).tracesAddress(options.otlp);
  const ask = options.interactive ? askOnTerminal(streams) : undefined;
  await requireExecutables(loaded, request.selection);
  const { jobs, keepWorkspace = false } = options;
  const result = await runShown({ ...request, jobs, keepWorkspace, ...present({ ask }) }, streams);
  if (options.json) stdout.write(escapedJson(result.summary));
  else printResult(result, stdout);
  if (options.otlp !== undefined) {
    const { sendAfterRun } = await import('./export.ts');
    await sendAfterRun(result, options.otlp, streams);
  }
  if (result.interrupted) {
    stderr.write(`Interrupted. Resume with: whetstone run --resume ${result.manifest.run_id}\n`);
    return 130;
  }
  return exitCodeOf(result.summary, options.failUnder);
}

/** What a run would report instead of starting, in the order in which it looks. */
export async function problemsOf(
  loaded: LoadedConfig,
  planned: PlannedRun,
  selection: Selection,
): Promise<WhetstoneError[]> {
  const { config } = planned;
  const problems: WhetstoneError[] = [];
  for (const check of [
    () => requireExecutables(loaded, selection),
    () => checkCassettes(config.gateway, planned),
  ]) {
    await check().catch((error: unknown) => {
      if (!(error instanceof WhetstoneError)) throw error;
      problems.push(error);
    });
  }
  const lacking = await startProblems(config, inPlan(config.agents, planned.plan.agents), process.env);
  return [...problems, ...lacking.map(({ error }) => error)];
}

/**
 * Errors and missing cases are not passes: a run that proved nothing does not pass a gate. With `failUnder`, each
 * variant of each agent is judged by itself, and the baseline only if nothing is compared with it.
 */
function exitCodeOf({ cases, arms, baseline }: Summary, failUnder: number | undefined): 0 | 1 {
  if (failUnder === undefined)
    return cases.planned > 0 && cases.passed + cases.skipped + cases.not_run === cases.planned ? 0 : 1;
  const variants = arms.filter((arm) => arm.variant !== baseline);
  const judged = variants.length > 0 ? variants : arms;
  return judged.length > 0 && judged.every(({ bounds }) => bounds !== null && bounds[0] >= failUnder) ? 0 : 1;
}

function bridgeOf({ bridge: run, bridgeTasks: tasks }: RunCommandOptions) {
  if (run !== undefined) return { run, ...present({ tasks }) };
  if (tasks === undefined) return undefined;
  throw new WhetstoneError('selection-invalid', '--bridge-tasks belongs to --bridge.', {
    hint: 'Name the run that has the baseline: --bridge main --bridge-tasks 10',
  });
}

function selectionOf(options: RunCommandOptions): Selection {
  return {
    agents: options.agent,
    variants: options.variant,
    taskIds: options.taskId,
    categories: options.category,
    difficulties: options.difficulty,
    ...present({ maxTasks: options.maxTasks }),
  };
}
