import { setTimeout as pause } from 'node:timers/promises';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { isJsonObject, type JsonObject, jsonOrText } from '@whetstone/events';
import type { Platform } from './platform.ts';

/** What a comment is written with. `wait` is replaced in tests. */
export type ForgeAccess = { token: string; wait?: (seconds: number) => Promise<unknown> };

/** What became of the comment. */
export type Commented = { done: 'created' | 'updated'; url: string | null };

/** How an API names things: the list of comments, one of them, and who asks. */
type Api = {
  name: string;
  headers: (token: string) => Record<string, string>;
  list: string;
  one: (id: number) => string;
  method: 'PATCH' | 'PUT';
  permission: string;
};

const PAGE = 100;
/** Comments of a request that are looked through. */
const MOST_PAGES = 30;
/** The longest wait that an API may ask for before it is an error, in seconds. */
const LONGEST_WAIT = 60;
const TRIES = 3;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Writes the comment of a pull request or merge request: the one of an earlier call is changed, else a new one is made. An
 * earlier one begins with `marker` and is by whoever the token belongs to, so that nobody else's comment is changed.
 * @throws WhetstoneError `forge-refused`, `forge-unreachable`
 */
export async function putComment(
  { kind, request }: Platform,
  { marker, body }: { marker: string; body: string },
  access: ForgeAccess,
): Promise<Commented> {
  if (!request || kind === 'other') throw new Error('there is no request to comment on');
  const api = kind === 'github' ? github(request) : gitlab(request);
  const call = caller(api, access);
  const isOwn = await ownComments(kind, request.api, call);
  const earlier = await findComment(
    api,
    call,
    (comment) => isOwn(comment) && bodyOf(comment).startsWith(marker),
  );
  const text = { body: `${marker}\n${body}` };
  const written = earlier
    ? await call(api.method, api.one(earlier), text)
    : await call('POST', api.list, text);
  const url = isJsonObject(written.body) ? written.body.html_url : undefined;
  return { done: earlier ? 'updated' : 'created', url: typeof url === 'string' ? url : null };
}

function github({ api, project, number }: NonNullable<Platform['request']>): Api {
  const repository = `${api}/repos/${project}`;
  return {
    name: 'GitHub',
    headers: (token) => ({
      authorization: `Bearer ${token}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    }),
    list: `${repository}/issues/${number}/comments`,
    one: (id) => `${repository}/issues/comments/${id}`,
    method: 'PATCH',
    permission:
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a workflow
      'Give the job `permissions: { pull-requests: write }` and the step `GITHUB_TOKEN: ${{ github.token }}`.',
  };
}

function gitlab({ api, project, number }: NonNullable<Platform['request']>): Api {
  const list = `${api}/projects/${encodeURIComponent(project)}/merge_requests/${number}/notes`;
  return {
    name: 'GitLab',
    headers: (token) => ({ 'private-token': token }),
    list,
    one: (id) => `${list}/${id}`,
    method: 'PUT',
    permission: 'WHETSTONE_GITLAB_TOKEN needs the scope api and at least the role Reporter.',
  };
}

type Answer = { status: number; body: unknown };
type Call = (method: string, url: string, body?: object, accepts?: readonly number[]) => Promise<Answer>;

function caller({ name, headers, permission }: Api, { token, wait }: ForgeAccess): Call {
  const waitFor = wait ?? ((seconds: number) => pause(seconds * 1000));
  const refused = (status: number, body: unknown, url: string, limited: boolean): WhetstoneError =>
    new WhetstoneError('forge-refused', `${name} answered ${status}: ${saidBy(body)}`, {
      where: new URL(url).pathname,
      hint: limited
        ? 'The limit of requests is used up. Start the job again later.'
        : hintOf(status, permission),
    });
  return async (method, url, body, accepts = []) => {
    for (let turn = 1; ; turn++) {
      const response = await fetch(url, {
        method,
        headers: {
          ...headers(token),
          'user-agent': 'whetstone',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      }).catch((cause: unknown) => {
        const reason = cause instanceof Error && cause.cause ? messageOf(cause.cause) : messageOf(cause);
        throw new WhetstoneError('forge-unreachable', `${name} cannot be reached: ${reason}`, {
          where: new URL(url).host,
          cause,
        });
      });
      const text = await response.text();
      const parsed = jsonOrText(text);
      if (response.ok || accepts.includes(response.status)) return { status: response.status, body: parsed };
      const seconds = secondsToWait(response);
      const isLimited = seconds !== undefined;
      const isAgain = isLimited ? seconds <= LONGEST_WAIT : response.status >= 500;
      if (!isAgain || turn === TRIES) throw refused(response.status, parsed, url, isLimited);
      await waitFor(seconds ?? turn);
    }
  };
}

/** How long a limit of requests asks to wait; `undefined`: no limit was met. */
function secondsToWait({ status, headers }: Response): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  if (Number.isFinite(after)) return after;
  const left = headers.get('x-ratelimit-remaining') ?? headers.get('ratelimit-remaining');
  const reset = Number(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset') ?? Number.NaN);
  if (left === '0' && Number.isFinite(reset)) return Math.max(1, Math.ceil(reset - Date.now() / 1000));
  return status === 429 ? LONGEST_WAIT : undefined;
}

const LONGEST_MESSAGE = 300;

/** The message of an error body, and what GitHub says of single fields. Never the whole body. */
function saidBy(body: unknown): string {
  if (!isJsonObject(body)) return typeof body === 'string' && body !== '' ? 'no JSON' : 'nothing';
  const { message, error, errors } = body;
  const main = [message, error].find((one) => one !== undefined);
  const fields = Array.isArray(errors) ? errors : [];
  return [main, ...fields]
    .flatMap((one) => (one === undefined ? [] : [typeof one === 'string' ? one : JSON.stringify(one)]))
    .join('; ')
    .slice(0, LONGEST_MESSAGE);
}

function hintOf(status: number, permission: string): string {
  if (status === 401) return 'The token is wrong or has expired.';
  if (status === 403) return `${permission} A pull request from a fork has no token that may write.`;
  if (status === 404) return `Check the number of the request. ${permission}`;
  return 'The message of the API says what is wrong.';
}

/** Whether a comment is by the owner of the token. An app may not ask who it is: then any bot's comment can be its own. */
async function ownComments(kind: Platform['kind'], api: string, call: Call) {
  const { status, body } = await call('GET', `${api}/user`, undefined, [403, 404]);
  const key = kind === 'github' ? 'login' : 'username';
  const self = status === 200 && isJsonObject(body) ? body[key] : undefined;
  return (comment: JsonObject): boolean => {
    const author = kind === 'github' ? comment.user : comment.author;
    if (!isJsonObject(author)) return false;
    return self === undefined ? author.type === 'Bot' : author[key] === self;
  };
}

async function findComment(
  { list }: Api,
  call: Call,
  isIt: (comment: JsonObject) => boolean,
): Promise<number | undefined> {
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { body } = await call('GET', `${list}?per_page=${PAGE}&page=${page}`);
    const comments = Array.isArray(body) ? body.filter(isJsonObject) : [];
    const found = comments.find(isIt)?.id;
    if (typeof found === 'number') return found;
    if (comments.length < PAGE) return undefined;
  }
  return undefined;
}

const bodyOf = ({ body }: JsonObject): string => (typeof body === 'string' ? body : '');
