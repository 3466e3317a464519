import { relative } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { checkExecutables, type ExecutableCheck } from '../config/check-executables.ts';
import type { Config } from '../config/config.ts';
import { ConfigErrors, type Diagnostic, inFileOrder } from '../config/diagnostic.ts';
import { formatDiagnostics } from '../config/format-diagnostics.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { strictChecks } from '../config/strict-checks.ts';
import { counted } from '../report/format.ts';
import { type WithSandbox, withSandbox } from '../run/choose-sandbox.ts';
import { startProblems } from '../run/start-problems.ts';
import { previewInstructions } from '../workspace/preview-instructions.ts';
import { resolveCommit } from '../workspace/repository.ts';
import { emptySubmodules, listSubmodules } from '../workspace/submodules.ts';
import { findWithheld, type Withheld } from '../workspace/withheld.ts';
import { openConfig } from './find-config.ts';
import { plannedSandboxLine, sandboxJson } from './sandbox-line.ts';

export type ValidateConfigOptions = {
  /** Relative to `cwd`. */
  config?: string;
  tasks?: string;
  /** Check the repository, its refs, task ids, environment variables and validation commands as well. */
  strict?: boolean;
  /** Look for the program and the key of each agent. Runs none. */
  checkAgents?: boolean;
  /** stdin has the text of the config. */
  draft?: boolean;
  /** One JSON object on stdout instead of text. */
  json?: boolean;
};

/** Loads a config and prints a summary, or everything that is wrong with it. Returns 0, or 2 for an invalid one. */
export async function validateConfigCommand(
  options: ValidateConfigOptions,
  { stdout, stderr }: Record<'stdout' | 'stderr', NodeJS.WritableStream>,
  { cwd, env } = { cwd: process.cwd(), env: process.env },
): Promise<number> {
  const { loaded, diagnostics, executables } = await validate(options, cwd, env);
  const withheld = loaded && (await withheldFrom(loaded.config));
  const submodules = loaded && withheld ? await submodulesOf(loaded.config, withheld) : null;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const valid = errors === 0;
  const sandboxed = loaded && valid ? await withSandbox(loaded.config, loaded.config) : undefined;
  if (options.json) {
    const sandbox = sandboxed && { sandbox: sandboxJson(sandboxed.config, sandboxed.sandbox) };
    const summary = loaded ? { ...jsonSummary(loaded.config), ...sandbox, withheld, submodules } : {};
    const report = { valid, ...summary, diagnostics, ...(options.checkAgents && { executables }) };
    stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    return valid ? 0 : 2;
  }
  if (diagnostics.length > 0) stderr.write(formatDiagnostics(diagnostics, { color: false, cwd }));
  if (sandboxed)
    stdout.write(textSummary(sandboxed, executables, { withheld: withheld ?? null, submodules }, cwd));
  else stderr.write(`\n${counted(errors, 'error')}\n`);
  return valid ? 0 : 2;
}

type Validation = { loaded?: LoadedConfig; diagnostics: Diagnostic[]; executables: ExecutableCheck[] };

async function validate(
  options: ValidateConfigOptions,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Validation> {
  try {
    const { loaded, environment } = await openConfig(options, { cwd, env });
    const strict = options.strict ? await strictChecks(loaded, environment) : [];
    const executables = options.checkAgents ? await checkExecutables(loaded, environment) : [];
    const missing = executables.flatMap((check) => missingProgram(check, loaded));
    const unread = await unreadInstructions(loaded);
    const lacking = options.checkAgents ? await lackingAgents(loaded, environment, strict) : [];
    const diagnostics = inFileOrder([...loaded.warnings, ...strict, ...missing, ...lacking, ...unread]);
    return { loaded, diagnostics, executables };
  } catch (error) {
    if (error instanceof ConfigErrors) return { diagnostics: [...error.diagnostics], executables: [] };
    throw error;
  }
}

function missingProgram(check: ExecutableCheck, { diagnose }: LoadedConfig): Diagnostic[] {
  if (check.kind !== 'missing') return [];
  const hint = 'install it, or correct the command';
  return [
    diagnose('config', 'error', check.path, check.reason, { hint, mark: { text: check.executable ?? '' } }),
  ];
}

/** What else would keep a run from starting. Variables that `strict` has reported already are left out. */
async function lackingAgents(
  { config, agentPath, diagnose }: LoadedConfig,
  environment: NodeJS.ProcessEnv,
  reported: readonly Diagnostic[],
): Promise<Diagnostic[]> {
  const problems = await startProblems(config, config.agents, environment);
  return problems.flatMap((problem) => {
    const path = 'agent' in problem ? agentPath(problem.agent) : problem.path;
    const { code, message, hint } = problem.error;
    const isReported = reported.some((one) => one.path.startsWith(path.join('.')));
    if (isReported && (code === 'env-missing' || code === 'agent-key-missing')) return [];
    return [diagnose('config', 'error', path, message, { hint, mark: 'key' })];
  });
}

const commitsOf = async ({ repo, tasks }: Pick<Config, 'repo' | 'tasks'>): Promise<string[]> => {
  const refs = new Set(tasks.map(({ repoRef = repo.baseRef }) => repoRef));
  return Promise.all([...refs].map((ref) => resolveCommit(repo.path, ref)));
};

/** `null`: the repository cannot be read. */
async function submodulesOf(config: Config, withheld: readonly Withheld[]): Promise<string[] | null> {
  try {
    return await listSubmodules(config.repo.path, await commitsOf(config), withheld);
  } catch (error) {
    if (error instanceof WhetstoneError) return null;
    throw error;
  }
}

/** Overlays that change what an agent reads without saying so. Nothing where the repository cannot be read. */
async function unreadInstructions({ config, diagnose }: LoadedConfig): Promise<Diagnostic[]> {
  const { agents, repo, tasks } = config;
  const variants = config.variants.filter(({ overlays }) => overlays.length > 0);
  if (variants.length === 0) return [];
  try {
    const commits = await commitsOf({ repo, tasks });
    const withheld = await findWithheld(config);
    const previews = await previewInstructions({ config, withheld, commits, variants, agents });
    return previews.flatMap(({ variant, warnings }) =>
      warnings.map((message) => diagnose('config', 'warning', ['variants', variant, 'overlays'], message)),
    );
  } catch (error) {
    if (error instanceof WhetstoneError) return [];
    throw error;
  }
}

/** What no case's tree has; `null` where the repository cannot be read, which only `--strict` checks. */
async function withheldFrom(config: Config): Promise<Withheld[] | null> {
  return findWithheld(config).catch((error: unknown) => {
    if (error instanceof WhetstoneError && error.code !== 'withheld-repository') return null;
    throw error;
  });
}

function textSummary(
  { config, sandbox }: WithSandbox<Config>,
  executables: readonly ExecutableCheck[],
  { withheld, submodules }: { withheld: readonly Withheld[] | null; submodules: readonly string[] | null },
  cwd: string,
): string {
  const lines = [
    `Config valid: ${relative(cwd, config.file) || config.file}`,
    `Repo: ${config.repo.path} at ${config.repo.baseRef}`,
    `Agents: ${config.agents.map(({ name, kind }) => `${name} (${kind})`).join(', ')}`,
    `Tasks: ${config.tasks.map(({ id }) => id).join(', ')}`,
    `Variants: ${config.variants.map(({ name }) => (name === config.baseline ? `${name} (baseline)` : name)).join(', ')}`,
    `Sandbox: ${plannedSandboxLine(config, sandbox)}`,
    withheld
      ? `Withheld from every case: ${withheld.map(({ path, what }) => `${path} (${what})`).join(', ')}`
      : 'Withheld from every case: unknown, because the repository cannot be read',
    ...(submodules && submodules.length > 0 ? [emptySubmodules(submodules)] : []),
    ...weakness(config),
    ...executables.map((check) => {
      const found = check.kind === 'found' ? `found ${check.file}` : `not checked: ${check.reason}`;
      return `${check.path.join('.')}: ${found}`;
    }),
  ];
  return `${lines.map(oneLine).join('\n')}\n`;
}

/** The tasks in which code under test can fake the verdict, because it only has to end its process with 0. */
const weakTasks = ({ tasks }: Config): string[] =>
  tasks.flatMap(({ id, validation }) => (validation.commands.length > 0 && !validation.tests ? id : []));

function weakness(config: Config): string[] {
  const weak = weakTasks(config);
  if (weak.length === 0) return [];
  return [`Weak verdict, by exit codes only: ${weak.join(', ')} (validation.tests: docs/hidden-tests.md)`];
}

/** Names and ids are the user's text; a control character in them must not reach the terminal. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, '\u{fffd}');
}

function jsonSummary(config: Config): Record<string, unknown> {
  return {
    config: config.file,
    repo: { path: config.repo.path, base_ref: config.repo.baseRef },
    agents: config.agents.map(({ name, kind }) => ({ name, kind })),
    tasks: config.tasks.map(({ id }) => id),
    weak_verdicts: weakTasks(config),
    variants: config.variants.map(({ name }) => name),
    baseline: config.baseline,
    output_dir: config.outputDir,
  };
}
