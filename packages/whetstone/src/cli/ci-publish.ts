import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { createMask } from '@whetstone/sandbox';
import { annotations, command } from '../ci/annotations.ts';
import { markerOf, type Part, renderComment } from '../ci/comment.ts';
import { type Commented, putComment } from '../ci/forge.ts';
import { type Job, jobSchema, measuredOf } from '../ci/measured.ts';
import { type Platform, platformOf } from '../ci/platform.ts';
import type { Config } from '../config/config.ts';
import { findRun } from '../record/find-run.ts';
import { requireWritable } from '../record/unwritable.ts';
import { escapedJson } from '../report/json.ts';
import { collectSecrets } from '../run/collect-secrets.ts';
import { type ReportedRun, rebuildReport } from '../run/write-report.ts';
import { openRepository } from '../workspace/repository.ts';
import { openConfig } from './find-config.ts';
import { junitOf } from './junit-of.ts';
import type { Streams } from './streams.ts';

export type PublishOptions = { config?: string; junit?: string; dryRun?: boolean; json?: boolean };

/** Tokens that a comment is written with. */
const TOKENS = { github: 'GITHUB_TOKEN', gitlab: 'WHETSTONE_GITLAB_TOKEN', other: '' } as const;

/**
 * Shows what `ci run` measured: one comment on the pull request, annotations and the summary of the job on GitHub, JUnit.
 * Returns 0, also where a fork's job may not comment, because nothing can be done there.
 * @throws WhetstoneError `ci-nothing-measured`, `forge-refused`, `forge-unreachable`, `env-missing`
 */
export async function ciPublishCommand(options: PublishOptions, streams: Streams): Promise<number> {
  const { stdout, stderr } = streams;
  const { env } = process;
  const platform = platformOf(env);
  const { config } = (await openConfig(options)).loaded;
  if (options.junit !== undefined) await requireWritable(options.junit, '--junit');
  const job = await readJob(config.outputDir);
  const runs: ReportedRun[] = [];
  for (const { run_id: id } of job.runs) runs.push(await rebuildReport(await findRun(id, config.outputDir)));
  const parts = runs.map((run, index): Part => {
    const of = job.runs[index] as Job['runs'][number];
    return { job: of, summary: run.summary, measured: measuredOf(run, of) };
  });
  const token = env[TOKENS[platform.kind]] || undefined;
  const mask = createMask([...collectSecrets(config.agents, config.gateway, env), ...(token ? [token] : [])]);
  const body = mask.text(renderComment(parts, job.not_run, platform.links));
  if (options.dryRun) {
    stdout.write(options.json ? escapedJson({ body }) : `${body}\n`);
    return 0;
  }
  if (options.junit !== undefined) await writeFile(options.junit, await junitOf(runs));
  if (platform.kind === 'github') {
    const notes =
      job.not_run === null ? annotations(parts) : [command('notice', job.not_run, { title: 'Whetstone' })];
    // On the log, where GitHub reads them; with --json, stdout is for the answer.
    for (const line of notes) (options.json ? stderr : stdout).write(`${mask.text(line)}\n`);
  }
  if (platform.summaryFile) await appendFile(platform.summaryFile, `${body}\n`);
  const commented = await comment(platform, { body, marker: await markerFor(config) }, token, streams);
  if (options.json) stdout.write(escapedJson({ comment: commented ?? null }));
  else if (commented) stdout.write(`Comment ${commented.done}${commented.url ? `: ${commented.url}` : ''}\n`);
  else if (!platform.request) stdout.write(`${body}\n`);
  return 0;
}

/** Several configurations of one repository have a comment each. */
async function markerFor({ file, repo }: Config): Promise<string> {
  return markerOf(relative((await openRepository(repo.path)).workTree, file));
}

async function comment(
  platform: Platform,
  text: { marker: string; body: string },
  token: string | undefined,
  { stderr }: Streams,
): Promise<Commented | undefined> {
  if (!platform.request) return undefined;
  if (token === undefined) {
    if (platform.isFork) return undefined;
    throw new WhetstoneError(
      'env-missing',
      `${TOKENS[platform.kind]} is not set, so nothing can be commented.`,
      {
        hint: 'Set it in the `env` of this step only.',
      },
    );
  }
  try {
    return await putComment(platform, text, { token });
  } catch (error) {
    if (!platform.isFork || codeOf(error) !== 'forge-refused') throw error;
    stderr.write(`No comment: the job of a fork has no token that may write. ${messageOf(error)}\n`);
    return undefined;
  }
}

async function readJob(outputDir: string): Promise<Job> {
  const file = join(outputDir, 'ci.json');
  const parsed = jobSchema.safeParse(parseJson(await readFile(file, 'utf8').catch(() => '')));
  if (parsed.success) return parsed.data;
  throw new WhetstoneError('ci-nothing-measured', 'There is no job to publish.', {
    where: file,
    hint: 'Run `whetstone ci run` first, with the same config.',
  });
}
