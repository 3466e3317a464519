import { readFileSync } from 'node:fs';
import { isJsonObject, parseJson } from '@whetstone/events';

/** Where a job runs, as its variables say. */
export type Platform = {
  kind: 'github' | 'gitlab' | 'other';
  /** The commit or branch that a pull request is compared with. */
  base?: string;
  /** Where its comment goes: the pull request or merge request, and the API. */
  request?: { api: string; project: string; number: number };
  /** Whether the request comes from a fork, whose jobs get no secrets. */
  isFork: boolean;
  /** The page of the job, and of the files that it kept. */
  links: { job?: string; files?: string };
  /** The file that the page of a job on GitHub shows. */
  summaryFile?: string;
};

/** Reads the variables of GitHub Actions and GitLab CI, and the event of GitHub. Empty variables count as absent. */
export function platformOf(env: NodeJS.ProcessEnv): Platform {
  const read = (name: string) => env[name] || undefined;
  if (read('GITHUB_ACTIONS')) return onGithub(read);
  return read('GITLAB_CI') ? onGitlab(read) : { kind: 'other', isFork: false, links: {} };
}

type Read = (name: string) => string | undefined;

function onGithub(read: Read): Platform {
  const project = read('GITHUB_REPOSITORY') ?? '';
  const event = eventOf(read('GITHUB_EVENT_PATH'));
  const of = (value: unknown, ...path: string[]): unknown =>
    path.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
  const number = Number(read('WHETSTONE_PULL_REQUEST') ?? of(event, 'pull_request', 'number') ?? Number.NaN);
  const head = of(event, 'pull_request', 'head', 'repo', 'full_name');
  const base = of(event, 'pull_request', 'base', 'sha');
  const run = `${read('GITHUB_SERVER_URL')}/${project}/actions/runs/${read('GITHUB_RUN_ID')}`;
  const files = read('WHETSTONE_ARTIFACT_URL');
  const summaryFile = read('GITHUB_STEP_SUMMARY');
  return {
    kind: 'github',
    ...(typeof base === 'string' && { base }),
    ...(Number.isInteger(number) && {
      request: { api: read('GITHUB_API_URL') ?? 'https://api.github.com', project, number },
    }),
    // A deleted fork has no repository.
    isFork: isJsonObject(event) && isJsonObject(event.pull_request) && head !== project,
    links: { ...(read('GITHUB_RUN_ID') && { job: run }), ...(files && { files }) },
    ...(summaryFile && { summaryFile }),
  };
}

function eventOf(file: string | undefined): unknown {
  if (file === undefined) return undefined;
  try {
    return parseJson(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // without the event nothing is known of the pull request
  }
}

function onGitlab(read: Read): Platform {
  const project = read('CI_PROJECT_ID') ?? '';
  const number = Number(read('CI_MERGE_REQUEST_IID') ?? Number.NaN);
  const base = read('CI_MERGE_REQUEST_DIFF_BASE_SHA');
  const job = read('CI_JOB_URL');
  const source = read('CI_MERGE_REQUEST_SOURCE_PROJECT_ID');
  return {
    kind: 'gitlab',
    ...(base && { base }),
    ...(Number.isInteger(number) && {
      request: {
        api: read('CI_API_V4_URL') ?? 'https://gitlab.com/api/v4',
        project: read('CI_MERGE_REQUEST_PROJECT_ID') ?? project,
        number,
      },
    }),
    isFork: source !== undefined && source !== read('CI_MERGE_REQUEST_PROJECT_ID'),
    links: job ? { job, files: `${job}/artifacts/browse` } : {},
  };
}
