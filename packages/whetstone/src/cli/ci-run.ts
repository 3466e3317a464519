import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { makeEach } from '@whetstone/sandbox/files';
import { changedAgents } from '../ci/changed-agents.ts';
import { changedContext, fileOf, mergeBase } from '../ci/changed-context.ts';
import { type Job, type JobRun, type Measured, measuredOf } from '../ci/measured.ts';
import { type Platform, platformOf } from '../ci/platform.ts';
import type { Config } from '../config/config.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { escapedJson } from '../report/json.ts';
import { planOrResume, type RunRequest } from '../run/plan-or-resume.ts';
import { openRepository, resolveCommit } from '../workspace/repository.ts';
import { installMissing } from './agents-install.ts';
import { findConfig, openConfig } from './find-config.ts';
import { ignore, ignoreRuns } from './ignore-runs.ts';
import { quietly } from './quiet-log.ts';
import { problemsOf } from './run.ts';
import { printResult, runShown } from './run-shown.ts';
import type { Streams } from './streams.ts';

export type CiRunOptions = {
  config?: string;
  base?: string;
  head?: string;
  trustHead?: boolean;
  trials: number;
  jobs: number;
  maxTasks?: number;
  agent: string[];
  /** US dollars. */
  budget?: number;
  failOn: 'worse' | 'never';
  json?: boolean;
};

/** One run of a job: what is compared, and the configuration that compares it. */
type Part = Omit<JobRun, 'run_id'> & { loaded: LoadedConfig };

type Outcome = { job: JobRun; measured: Measured[] };

/**
 * Measures what a change does, and keeps what it measured in `ci.json` beside the runs, for `ci publish`. Returns 0; 1 for a
 * verdict that `failOn` names and where a comparison has no result; 130 if a person stopped it.
 * @throws WhetstoneError `ci-unsealed`, `ci-base-missing`, and those of a run
 */
export async function ciRunCommand(options: CiRunOptions, streams: Streams): Promise<number> {
  const platform = platformOf(process.env);
  const { loaded: own, environment } = await openConfig(options);
  Object.assign(process.env, environment);
  const { outputDir } = own.config;
  await ignoreRuns(dirname(own.config.file));
  const parts = await partsOf(own, platform, options);
  if (!Array.isArray(parts)) return await nothing(outputDir, parts.why, options, streams);
  for (const { loaded } of parts) await refuseOpenSandbox(loaded, options);
  const lacking = platform.isFork ? await lackingOnFork(parts, options) : undefined;
  if (lacking !== undefined) return await nothing(outputDir, lacking, options, streams);

  const outcomes: Outcome[] = [];
  const keep = () =>
    keepJob(outputDir, { schema_version: '1', runs: outcomes.map(({ job }) => job), not_run: null });
  for (const part of parts) {
    const { kind, what, pairs, loaded } = part;
    await installMissing(loaded.config.agents, streams);
    const result = await quietly(platform, streams, () =>
      runShown({ ...requestOf(loaded.config, options), jobs: options.jobs }, streams),
    );
    const job: JobRun = { run_id: result.manifest.run_id, kind, what, pairs };
    outcomes.push({ job, measured: measuredOf(result, job) });
    await keep();
    if (!options.json) await quietly(platform, streams, async () => printResult(result, streams.stdout));
    if (result.interrupted) return 130;
  }
  if (options.json) streams.stdout.write(escapedJson({ runs: outcomes.map(asJson), not_run: null }));
  return exitCodeOf(outcomes, options);
}

const asJson = ({ job, measured }: Outcome) => ({ ...job, comparisons: measured });

function exitCodeOf(outcomes: readonly Outcome[], { failOn }: CiRunOptions): 0 | 1 {
  const all = outcomes.flatMap(({ measured }) => measured.map(({ comparison }) => comparison));
  if (all.some(({ difference }) => difference === null)) return 1;
  return failOn === 'worse' && all.some(({ verdict }) => verdict === 'worse') ? 1 : 0;
}

const requestOf = (config: Config, { trials, maxTasks, agent }: CiRunOptions): RunRequest => {
  const agents = agent.filter((name) => config.agents.some((one) => one.name === name));
  return { config, trials, selection: { ...(agents.length > 0 && { agents }), ...present({ maxTasks }) } };
};

/** What a change asks for; `why`: nothing is to be measured. */
async function partsOf(
  own: LoadedConfig,
  platform: Platform,
  options: CiRunOptions,
): Promise<Part[] | { why: string }> {
  const found = findConfig(options.config);
  const load = (change: (root: JsonObject) => Record<string, unknown>) =>
    loadConfig(found.file, {
      cwd: found.cwd,
      change: (root) => withBudget(change(root as JsonObject), own.config, options.budget),
    });
  const parts: Part[] = [];
  const base = options.base ?? platform.base;
  if (base === undefined && options.head !== undefined) {
    throw new WhetstoneError('ci-base-missing', '--head needs a commit to compare with.', {
      hint: 'Name it with --base, for example --base HEAD.',
    });
  }
  if (base !== undefined) {
    const { workTree, gitDir } = await openRepository(own.config.repo.path);
    const head = await resolveCommit(workTree, options.head ?? 'HEAD');
    const start = await mergeBase(gitDir, await resolveCommit(workTree, base), head);
    const folder = join(workTree, '.whetstone/ci');
    await ignore(folder, '*\n');
    const context = await changedContext(gitDir, { base: start, head }, join(folder, 'context'));
    if (context) {
      const { what, variants } = context;
      parts.push({
        kind: 'context',
        what,
        pairs: [],
        loaded: await load((root) => ({ ...root, baseline: 'before', variants })),
      });
    }
    // The configuration of another commit may be somebody else's: of --head only what agents read is taken.
    const agents = options.head === undefined ? await agentsPart(own, start, load) : undefined;
    if (agents) parts.push(agents);
  }
  if (parts.length > 0) return parts;
  if (options.head !== undefined) return { why: 'No instruction file and no skill differs from the base.' };
  if (own.config.variants.length > 1) {
    return [
      {
        kind: 'config',
        what: own.config.variants.map(({ name }) => name),
        pairs: [],
        loaded: await load((root) => root),
      },
    ];
  }
  return {
    why: `Nothing to compare: ${base === undefined ? 'no base commit is known' : 'no instruction file, skill or agent differs from the base'}, and the configuration has one variant.`,
  };
}

async function agentsPart(
  { config }: LoadedConfig,
  base: string,
  load: (change: (root: JsonObject) => Record<string, unknown>) => Promise<LoadedConfig>,
): Promise<Part | undefined> {
  if (!/\.ya?ml$/.test(config.file)) return undefined;
  const { workTree, gitDir } = await openRepository(config.repo.path);
  const path = relative(workTree, config.file).split(sep).join('/');
  // A config beside the repository has no earlier version in it.
  const earlier = path.startsWith('../') ? undefined : await fileOf(gitDir, base, path);
  let found: ReturnType<typeof changedAgents>;
  const loaded = await load((root) => {
    found = earlier === undefined ? undefined : changedAgents(earlier, root);
    const variants = (root.variants ?? {}) as JsonObject;
    return found
      ? { ...root, agents: found.agents, variants: { [config.baseline]: variants[config.baseline] ?? {} } }
      : root;
  });
  const { pairs } = found ?? {};
  return pairs && { kind: 'agents', what: pairs.map(({ after }) => after), pairs, loaded };
}

export function withBudget(
  root: Record<string, unknown>,
  { gateway: hasGateway, file }: Config,
  budget: number | undefined,
): Record<string, unknown> {
  if (budget === undefined) return root;
  if (!hasGateway) {
    throw new WhetstoneError('try-option-invalid', '--budget needs a gateway, which counts the cost.', {
      hint: `Set \`gateway\` in ${file}.`,
    });
  }
  const gateway = root.gateway as { run_budget?: object };
  return { ...root, gateway: { ...gateway, run_budget: { ...gateway.run_budget, usd: budget } } };
}

/** Text of a stranger steers an agent, so the agent must not reach the machine, whose processes have keys. */
async function refuseOpenSandbox({ config }: LoadedConfig, options: CiRunOptions): Promise<void> {
  if (options.head === undefined || options.trustHead) return;
  const { config: planned } = await planOrResume(requestOf(config, options));
  if (planned.sandbox.provider !== 'process') return;
  throw new WhetstoneError(
    'ci-unsealed',
    'Instructions of --head would steer agents that are not sealed from this machine and its keys.',
    {
      hint: 'Use a machine where `whetstone agents doctor` reports a sealed sandbox, or read the instructions and add --trust-head.',
    },
  );
}

/** What the job of a fork lacks, as a sentence; `undefined`: nothing. */
async function lackingOnFork(parts: readonly Part[], options: CiRunOptions): Promise<string | undefined> {
  for (const { loaded } of parts) {
    const request = requestOf(loaded.config, options);
    const problems = await problemsOf(loaded, await planOrResume(request), request.selection);
    const [first] = problems;
    if (first) {
      return `This pull request comes from a fork, whose jobs get no secrets: ${first.message} Somebody who may start workflows and has read the change can start this workflow by hand with the number of the pull request.`;
    }
  }
  return undefined;
}

async function nothing(
  outputDir: string,
  why: string,
  { json }: CiRunOptions,
  { stdout }: Streams,
): Promise<number> {
  await keepJob(outputDir, { schema_version: '1', runs: [], not_run: why });
  stdout.write(json ? escapedJson({ runs: [], not_run: why }) : `Nothing was measured. ${why}\n`);
  return 0;
}

async function keepJob(outputDir: string, job: Job): Promise<void> {
  makeEach(outputDir);
  await writeFile(join(outputDir, 'ci.json'), `${JSON.stringify(job, null, 2)}\n`);
}
