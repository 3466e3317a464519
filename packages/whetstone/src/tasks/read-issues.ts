import { readFile } from 'node:fs/promises';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { z } from 'zod';

/** An issue or a pull request of an export. */
export type Issue = { number: number; title: string; body: string; isPullRequest: boolean };

/** GitHub's REST answers, and what `gh issue list --json …` and `gh pr list --json …` print. */
const issueSchema = z.object({
  number: z.number().int(),
  title: z.string(),
  body: z.string().nullish(),
  pull_request: z.unknown().optional(),
  url: z.string().nullish(),
  html_url: z.string().nullish(),
});

/**
 * Reads exports of issues and pull requests, by number.
 * @throws WhetstoneError `issues-unreadable`
 */
export async function readIssues(files: readonly string[]): Promise<ReadonlyMap<number, Issue>> {
  const found = new Map<number, Issue>();
  for (const file of files) for (const issue of await issuesIn(file)) found.set(issue.number, issue);
  return found;
}

async function issuesIn(file: string): Promise<Issue[]> {
  try {
    const text = await readFile(file, 'utf8');
    const parsed = z.array(issueSchema).parse(JSON.parse(text));
    return parsed.map(({ number, title, body, pull_request, url, html_url }) => ({
      number,
      title,
      body: body ?? '',
      isPullRequest: pull_request != null || /\/pull\/\d+/.test(html_url ?? url ?? ''),
    }));
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause).split('\n', 1)[0] : messageOf(cause);
    throw new WhetstoneError('issues-unreadable', `The issues cannot be read: ${reason}`, {
      where: file,
      cause,
    });
  }
}
