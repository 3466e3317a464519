import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { parseJson, type StreamEvent } from '@whetstone/events';
import { readAtif } from '@whetstone/events/atif';
import { z } from 'zod';
import { hashJson } from '../plan/hash-json.ts';
import { collectedFolders, findTree, readArtifacts } from './harbor-tree.ts';
import type { ImportedCase } from './imported-case.ts';

const spanSchema = z
  .looseObject({ started_at: z.string().nullish(), finished_at: z.string().nullish() })
  .nullish();

/** `result.json` of a trial. Everything may be missing: a trial can end before it is known. */
const trialSchema = z.looseObject({
  task_name: z.string(),
  task_checksum: z.string().nullish(),
  agent_info: z
    .looseObject({
      name: z.string(),
      version: z.string().nullish(),
      model_info: z.looseObject({ name: z.string().nullish(), provider: z.string().nullish() }).nullish(),
    })
    .nullish(),
  agent_result: z
    .looseObject({
      n_input_tokens: z.number().nullish(),
      n_cache_tokens: z.number().nullish(),
      n_output_tokens: z.number().nullish(),
      cost_usd: z.number().nullish(),
    })
    .nullish(),
  verifier_result: z.looseObject({ rewards: z.record(z.string(), z.number()).nullish() }).nullish(),
  exception_info: z
    .looseObject({ exception_type: z.string().nullish(), exception_message: z.string().nullish() })
    .nullish(),
  started_at: z.string().nullish(),
  finished_at: z.string().nullish(),
  agent_execution: spanSchema,
});

/** Whether a folder is one of Harbor's jobs: trials with a `result.json` are in it. */
export const isHarborJob = (folder: string): boolean => trialsOf(folder).length > 0;

const trialsOf = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .filter((trial) => statSync(join(trial, 'result.json'), { throwIfNoEntry: false })?.isFile())
    .sort();

/**
 * Reads the trials of a Harbor job. `score`: which reward decides; default: `reward`, or the only one. `tree`: where agents had
 * their workspace, in the container; default: the only folder that the job collected. `trees`: the folders among which it has
 * to be chosen.
 * @throws WhetstoneError `import-invalid` where a result cannot be read or several rewards could decide.
 */
export async function importHarbor(
  folder: string,
  { score, tree }: { score: string | undefined; tree: string | undefined },
): Promise<{ cases: ImportedCase[]; trees: string[] }> {
  const trials = trialsOf(folder).map((trial) => ({ trial, artifacts: readArtifacts(trial) }));
  const folders = collectedFolders(trials.map(({ artifacts }) => artifacts));
  const [only, ...others] = folders;
  const source = tree ?? (others.length === 0 ? only : undefined);
  const cases = await Promise.all(
    trials.map(async ({ trial, artifacts }) => ({
      ...(await caseOf(trial, score)),
      ...(source !== undefined && { tree: findTree(trial, artifacts, source) }),
    })),
  );
  return { cases, trees: source === undefined ? folders : [] };
}

async function caseOf(folder: string, score: string | undefined): Promise<ImportedCase> {
  const file = join(folder, 'result.json');
  const parsed = trialSchema.safeParse(parseJson(await readFile(file, 'utf8')));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new WhetstoneError('import-invalid', `${issue?.path.join('.')}: ${issue?.message}`, {
      where: file,
    });
  }
  const trial = parsed.data;
  const { agent_info: agent, agent_result: spent, task_checksum: checksum } = trial;
  const { n_input_tokens: input, n_cache_tokens: cached, n_output_tokens: output } = spent ?? {};
  const model = agent?.model_info?.name ?? undefined;
  return {
    task: trial.task_name,
    fingerprint: checksum ?? hashJson({ tool: 'harbor', task: trial.task_name }),
    agent: { name: agent?.name ?? 'unknown', kind: 'harbor', version: agent?.version ?? null },
    trial: null,
    ...(await verdictOf(trial, folder, score)),
    startedAt: trial.started_at ?? null,
    seconds: secondsOf(trial),
    agentSeconds: secondsOf(trial.agent_execution),
    events: await transcriptOf(join(folder, 'agent', 'trajectory.json')),
    // Harbor counts cached tokens among those of the input.
    usage:
      input == null || output == null
        ? null
        : { inputTokens: input - (cached ?? 0), outputTokens: output, cacheReadTokens: cached ?? 0 },
    costUsd: spent?.cost_usd ?? null,
    models: model === undefined ? [] : [model],
  };
}

type Verdict = Pick<ImportedCase, 'outcome' | 'evidence' | 'score' | 'failureClass'>;

/** Exceptions after which the work of the agent is done but not judged. */
const OF_VERIFIER = /^(?:Verifier|Reward|AddTests|DownloadVerifier)/;

async function verdictOf(
  { verifier_result: verified, exception_info: exception }: z.infer<typeof trialSchema>,
  folder: string,
  score: string | undefined,
): Promise<Verdict> {
  const missing = (evidence: string): Verdict => ({ outcome: 'error', evidence, score: null });
  const rewards = verified?.rewards ?? undefined;
  if (rewards === undefined) {
    const said = [exception?.exception_type, exception?.exception_message].filter(Boolean).join(': ');
    const isOfVerifier = OF_VERIFIER.test(exception?.exception_type ?? '');
    return {
      ...missing(said || 'the job has no reward for this trial'),
      failureClass: isOfVerifier ? 'verifier' : 'harness',
    };
  }
  // Nobody says which of the two counts, and an agent can have written one of them.
  const files = ['reward.txt', 'reward.json'].filter((name) =>
    statSync(join(folder, 'verifier', name), { throwIfNoEntry: false }),
  );
  if (files.length > 1)
    return { ...missing('the verifier left both reward.txt and reward.json'), failureClass: 'verifier' };
  const names = Object.keys(rewards);
  const name = score ?? (names.includes('reward') ? 'reward' : names[0]);
  if (score === undefined && names.length > 1 && !names.includes('reward')) {
    throw new WhetstoneError('import-invalid', `The trial has several rewards: ${names.join(', ')}.`, {
      where: folder,
      hint: `Say which one decides: --score ${names[0]}`,
    });
  }
  const reward = name === undefined ? undefined : rewards[name];
  if (reward === undefined) return missing(`the job has no reward ${name ?? ''}`.trim());
  const size = reward >= 0 && reward <= 1 ? reward : null;
  return reward >= 1
    ? { outcome: 'passed', evidence: null, score: size }
    : { outcome: 'failed', evidence: `the reward is ${reward}`, score: size };
}

async function transcriptOf(file: string): Promise<readonly StreamEvent[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (text === undefined) return [];
  try {
    return readAtif(parseJson(text)).events;
  } catch (error) {
    throw new WhetstoneError('import-invalid', messageOf(error), { where: file, cause: error });
  }
}

function secondsOf(span: z.infer<typeof spanSchema>): number | null {
  const [start, end] = [span?.started_at, span?.finished_at].map((at) => (at ? Date.parse(at) : Number.NaN));
  const seconds = ((end ?? Number.NaN) - (start ?? Number.NaN)) / 1000;
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
