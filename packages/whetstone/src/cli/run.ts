import { present } from '@whetstone/events/present';
import { formatDiagnostics } from '../config/format-diagnostics.ts';
import type { Selection } from '../plan/plan.ts';
import { escapedJson } from '../report/json.ts';
import type { Summary } from '../report/summary.ts';
import { renderTerminal } from '../report/terminal.ts';
import { casesToRun, planOrResume } from '../run/plan-or-resume.ts';
import { requireExecutables } from '../run/require-executables.ts';
import { run } from '../run/run.ts';
import { printDryRun } from './dry-run.ts';
import { openConfig } from './find-config.ts';
import { onInterrupt } from './interrupt.ts';
import { createProgress } from './progress.ts';
import type { Streams } from './streams.ts';
import { terminalColors, terminalWidth } from './terminal-features.ts';

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
  seed?: string;
  dryRun?: boolean;
  resume?: string;
  failUnder?: number;
  json?: boolean;
};

export async function runCommand(options: RunCommandOptions, { stdout, stderr }: Streams): Promise<number> {
  const { loaded, environment } = await openConfig(options);
  Object.assign(process.env, environment);
  const { config, warnings } = loaded;
  if (warnings.length > 0) {
    stderr.write(`${formatDiagnostics(warnings, { color: terminalColors(stderr).isColorSupported })}\n`);
  }
  const request = {
    config,
    selection: selectionOf(options),
    trials: options.trials,
    ...present({ seed: options.seed, resume: options.resume }),
  };
  if (options.dryRun) {
    const { plan, resumed } = await planOrResume(request);
    const starting = casesToRun(plan, resumed?.rows);
    await printDryRun(config, { plan, starting }, { json: options.json ?? false, stdout });
    return 0;
  }

  await requireExecutables(loaded, request.selection);
  const progress = createProgress(stderr);
  const { jobs } = options;
  using interrupt = onInterrupt(stderr);
  const { signal } = interrupt;
  const result = await run({ ...request, jobs, signal, onEvent: progress.show }).finally(progress.stop);

  if (options.json) stdout.write(escapedJson(result.summary));
  else {
    stdout.write(
      `${renderTerminal(result.summary, result.ordered, { colors: terminalColors(stdout), width: terminalWidth(stdout) })}\n`,
    );
    stdout.write(`\n${result.directory}\n`);
  }
  if (result.interrupted) {
    stderr.write(`Interrupted. Resume with: whetstone run --resume ${result.manifest.run_id}\n`);
    return 130;
  }
  return exitCodeOf(result.summary, options.failUnder);
}

/**
 * Errors and missing cases are not passes: a run that proved nothing does not pass a gate. With `failUnder`, each
 * variant of each agent is judged by itself, and the baseline only if nothing is compared with it.
 */
function exitCodeOf({ cases, arms, baseline }: Summary, failUnder: number | undefined): 0 | 1 {
  if (failUnder === undefined) return cases.planned > 0 && cases.passed === cases.planned ? 0 : 1;
  const variants = arms.filter((arm) => arm.variant !== baseline);
  const judged = variants.length > 0 ? variants : arms;
  return judged.length > 0 && judged.every(({ bounds: [lowest] }) => lowest >= failUnder) ? 0 : 1;
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
