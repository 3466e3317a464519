import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { z } from 'zod';

/** An issue or a pull request of an export. */
export type Issue = { number: number; title: string; body: string; isPullRequest: boolean };

/** Finds the issue or the pull request with a number; `undefined`: there is none. */
export type FindIssue = (number: number) => Promise<Issue | undefined>;

/** GitHub's REST answers, and what `gh issue list --json …` and `gh pr list --json …` print. */
const issueSchema = z.object({
  number: z.number().int(),
  title: z.string(),
  body: z.string().nullish(),
  pull_request: z.unknown().optional(),
  url: z.string().nullish(),
  html_url: z.string().nullish(),
});

/** What `--issues` names instead of a file to ask GitHub's own program. */
const GH = 'gh';

/**
 * Opens exports of issues and pull requests; `gh` among them stands for the program, which is asked about the repository
 * at `workTree` when no file has a number.
 * @throws WhetstoneError `issues-unreadable`
 */
export async function openIssues(files: readonly string[], workTree: string): Promise<FindIssue> {
  const found = new Map<number, Issue>();
  for (const file of files.filter((one) => one !== GH))
    for (const issue of await issuesIn(file)) found.set(issue.number, issue);
  const ask = files.includes(GH) ? await openGithub(workTree) : undefined;
  return async (number) => {
    const issue = found.get(number) ?? (await ask?.(number));
    if (issue) found.set(number, issue);
    return issue;
  };
}

/** Asks about one number at a time, because only few of thousands of issues are named. */
async function openGithub(workTree: string): Promise<FindIssue> {
  const ask = async (path: string): Promise<unknown> => {
    const { stdout } = await promisify(execFile)(GH, ['api', `repos/{owner}/{repo}${path}`], {
      ...{ cwd: workTree, timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
      env: { ...process.env, GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1' },
    });
    return JSON.parse(stdout);
  };
  await ask('').catch((cause) => {
    const reason = codeOf(cause) === 'ENOENT' ? 'it is not installed' : saidBy(cause);
    throw new WhetstoneError('issues-unreadable', `\`gh\` cannot be asked for issues: ${reason}`, {
      where: workTree,
      hint: 'Run `gh auth login`, and `gh repo view` in the repository; or write an export with it elsewhere.',
      cause,
    });
  });
  return async (number) => {
    try {
      return issueOf(issueSchema.parse(await ask(`/issues/${number}`)));
    } catch (error) {
      if (/HTTP (404|410)/.test(saidBy(error))) return undefined;
      throw new Error(`gh cannot read #${number}: ${saidBy(error)}`);
    }
  };
}

/** What a program that failed wrote, in one line. */
function saidBy(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return (text || messageOf(error)).split('\n', 1)[0] ?? '';
}

async function issuesIn(file: string): Promise<Issue[]> {
  try {
    const text = await readFile(file, 'utf8');
    const parsed = z.array(issueSchema).parse(JSON.parse(text));
    return parsed.map(issueOf);
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause).split('\n', 1)[0] : messageOf(cause);
    throw new WhetstoneError('issues-unreadable', `The issues cannot be read: ${reason}`, {
      where: file,
      cause,
    });
  }
}

const issueOf = ({
  number,
  title,
  body,
  pull_request,
  url,
  html_url,
}: z.infer<typeof issueSchema>): Issue => ({
  ...{ number, title, body: body ?? '' },
  isPullRequest: pull_request != null || /\/pull\/\d+/.test(html_url ?? url ?? ''),
});
