import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WhetstoneError } from '@whetstone/errors';
import { prettifyError, ZodError } from 'zod';
import { compareRuns } from '../report/compare-runs.ts';
import { requirePairs, requireTwoSides, sideOf } from '../report/side-of.ts';
import { createGuard, type Guard } from './access-guard.ts';
import { bodyStream, callBodies, findExchange } from './call-bodies.ts';
import { openCaseFile, type RecordedCase, readCaseFile } from './case-files.ts';
import { changedFile } from './changed-file.ts';
import { serveDocs } from './docs-site.ts';
import { labelCase, runLabels } from './labels.ts';
import { listen } from './listen.ts';
import { liveStream } from './live/stream.ts';
import { caseDetail, openStoredRuns, type StoredRuns } from './load-runs.ts';
import { type PageFile, pageFiles } from './page-files.ts';
import { openWorkbench, type Workbench } from './project/actions.ts';
import { readJsonBody } from './read-body.ts';
import type { FolderServer } from './serve-folder.ts';
import { sourceLines } from './source-lines.ts';

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

export interface ViewServer extends AsyncDisposable {
  /** Opens the page in any browser of this machine. Contains the secret that keeps other users out. */
  readonly url: string;
  /** A URL that opens the page once. For places that others can see, such as the arguments of a process. */
  createOneTimeUrl(): string;
  /** Also ends open connections. */
  close(): Promise<void>;
}

/**
 * Serves the web page for the runs below `outputDirectory`: on loopback, with the secret of the URL. `port`: default 0, any
 * free port. What the page starts ends with the server. Runs may be hostile: answers are JSON, and the page runs only its own files.
 * @throws WhetstoneError `view-host-invalid` for a host that is not loopback, `view-port-unavailable` for a port that
 * cannot be used.
 */
export async function serveRuns(options: {
  outputDirectory: string;
  /** The configuration that the page edits and runs. Without it, the page only reads and labels. */
  config?: string;
  /** The run that a reader will look at first: it is read before anybody asks. */
  first?: string;
  port?: number;
  host?: string;
}): Promise<ViewServer> {
  const { outputDirectory, config, first, port = 0, host = '127.0.0.1' } = options;
  if (!LOOPBACK.includes(host)) {
    throw new WhetstoneError('view-host-invalid', `${host} is not a loopback address.`, {
      hint: 'Runs contain prompts, patches and logs. To look from another machine, forward the port: ssh -L.',
    });
  }
  const files = pageFiles();
  const server = createServer({ requestTimeout: 30_000 });
  await listen(server, port, host);
  const address = server.address() as AddressInfo;
  const guard = createGuard(address.port);
  const workbench = openWorkbench(config);
  let docs: Promise<FolderServer> | undefined;
  const page: Page = {
    ...{ guard, runs: openStoredRuns(outputDirectory), files, workbench },
    docs: async () => {
      docs ??= serveDocs().catch((error) => {
        docs = undefined; // it may be built by the next time
        throw error;
      });
      return (await docs).url;
    },
  };
  if (first !== undefined) void page.runs.find(first).catch(() => undefined); // who asks for it gets the error
  server.on('request', (request, response) => void handle(page, request, response));

  const origin = `http://${host === '::1' ? '[::1]' : host}:${address.port}`;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    await workbench.close();
    await docs?.then((site) => site[Symbol.asyncDispose]()).catch(() => undefined); // it may never have started
    server.closeAllConnections();
    await closed;
  };
  let closing: Promise<void> | undefined;
  const closeOnce = () => (closing ??= close());
  return {
    url: `${origin}/?token=${guard.token}`,
    createOneTimeUrl: () => `${origin}/?token=${guard.createTicket()}`,
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

type Page = {
  guard: Guard;
  runs: StoredRuns;
  files: ReadonlyMap<string, PageFile>;
  workbench: Workbench;
  /** Where the documentation is served, from the first time that somebody asks. */
  docs: () => Promise<string>;
};

type Answer = {
  status: number;
  headers?: Record<string, string>;
  contentType: string;
  body: string | Buffer | Readable | undefined;
};

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

async function handle(page: Page, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await answerTo(page, request).catch(failure);
  if (answer.body === undefined || answer.body instanceof Readable) {
    response.writeHead(answer.status, {
      ...HEADERS,
      ...answer.headers,
      'Content-Type': answer.contentType,
    });
    if (answer.body === undefined || request.method === 'HEAD') {
      answer.body?.destroy();
      response.end();
    } else await pipeline(answer.body, response).catch(() => undefined); // the reader may leave at any time
    return;
  }
  const body = Buffer.from(answer.body);
  const tag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  if (answer.status === 200 && request.headers['if-none-match'] === tag) {
    response.writeHead(304, { ...HEADERS, ETag: tag }).end(); // the page asks every two seconds
    return;
  }
  response.writeHead(answer.status, {
    ...HEADERS,
    ...answer.headers,
    ETag: tag,
    'Content-Type': answer.contentType,
    'Content-Length': body.length,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function answerTo(page: Page, request: IncomingMessage): Promise<Answer> {
  const { guard } = page;
  const refusal = guard.refusal(request);
  if (refusal) {
    const headers = refusal.status === 405 ? { Allow: 'GET, HEAD, POST' } : {};
    return { ...text(refusal.status, refusal.message), headers };
  }
  const target = parseTarget(request.url ?? '');
  if (target === undefined) return text(400, 'The address cannot be read.');
  const secret = target.query.get('token');
  if (target.segments.length === 0 && secret !== null) {
    const cookie = guard.exchange(secret);
    // The page keeps the key, and takes it out of the address.
    const location = `/?key=${guard.actionKey}`;
    if (cookie !== undefined)
      return { ...text(303, ''), headers: { Location: location, 'Set-Cookie': cookie } };
  }
  if (secret !== null || !guard.hasCookie(request)) {
    return text(403, 'Open the address that "whetstone view" printed: it holds the key to this page.');
  }
  const [first, ...rest] = target.segments;
  const missing = json(404, { error: 'There is no such thing here.' });
  if (request.method === 'POST') {
    return first === 'api' ? ((await answerAction(page, rest, request)) ?? missing) : missing;
  }
  if (first === 'api') return (await answerApi(page, rest, target.query, request)) ?? missing;
  if (first === 'docs' && rest.length === 0) {
    return page.docs().then(
      (url) => ({ ...text(303, ''), headers: { Location: url } }),
      (error) => text(404, messageAndHint(error)),
    );
  }
  return (await answerFile(page.files, target.segments)) ?? text(404, 'There is no such page.');
}

/** The decoded segments of the path; `undefined` when it is not a path. Nothing is resolved: `..` is just a name. */
function parseTarget(target: string): { segments: string[]; query: URLSearchParams } | undefined {
  const mark = target.includes('?') ? target.indexOf('?') : target.length;
  const path = target.slice(0, mark);
  if (!path.startsWith('/')) return undefined;
  try {
    const segments = path === '/' ? [] : path.slice(1).split('/').map(decodeURIComponent);
    return { segments, query: new URLSearchParams(target.slice(mark + 1)) };
  } catch {
    return undefined;
  }
}

async function answerFile(files: Page['files'], segments: string[]): Promise<Answer | undefined> {
  const file = files.get(segments.length === 0 ? 'index.html' : segments.join('/'));
  if (file === undefined) return undefined;
  return { status: 200, contentType: file.contentType, body: await readFile(file.path) };
}

async function answerApi(
  { runs, workbench }: Page,
  segments: string[],
  query: URLSearchParams,
  request: IncomingMessage,
): Promise<Answer | undefined> {
  const [collection, runId, cases, caseId, fileName, raw, body, ...more] = segments;
  if (segments.length === 1) {
    if (collection === 'compare') return answerComparison(runs, query);
    if (collection === 'project') return json(200, await workbench.state());
    if (collection === 'live') {
      const body = liveStream(runs, query.get('run') ?? undefined);
      return { status: 200, contentType: 'text/event-stream', body };
    }
  }
  if (collection !== 'runs' || more.length > 0) return undefined;
  if (runId === undefined) return json(200, await runs.list());
  const loaded = await runs.find(runId);
  if (loaded === undefined) return json(404, { error: `There is no run "${runId}" here.` });
  if (cases === undefined) return json(200, loaded.detail);
  if (cases === 'labels' && caseId === undefined) return json(200, await runLabels(loaded.run));
  if (cases !== 'cases' || caseId === undefined) return undefined;
  const detail = await caseDetail(loaded, caseId);
  if (detail === undefined) return json(404, { error: `The run "${runId}" has no case "${caseId}".` });
  if (fileName === undefined) return json(200, detail);
  const { run } = loaded;
  const recorded = { runDirectory: run.directory, caseId, row: run.rows.get(caseId) ?? null };
  if (fileName === 'exchanges' && raw !== undefined && raw !== 'raw') {
    return answerCall(recorded, raw, body, query);
  }
  if (fileName === 'patch' && raw === 'files' && /^\d{1,6}$/.test(body ?? '')) {
    const file = await changedFile(recorded, run.manifest.repo.path, Number(body));
    return file && json(200, file);
  }
  if (body !== undefined) return undefined;
  if (fileName === 'source' && raw === undefined) {
    const place = { path: query.get('path') ?? '', line: Number(query.get('line')) };
    const commit = recorded.row?.repo_ref ?? '';
    return json(200, (await sourceLines(recorded, run.manifest.repo.path, commit, place)) ?? null);
  }
  if (raw === undefined) {
    const file = await readCaseFile(recorded, fileName);
    return file && json(200, file);
  }
  const file = raw === 'raw' ? await openCaseFile(recorded, fileName, request.headers.range) : undefined;
  return file && { ...file, contentType: 'application/octet-stream', body: file.stream };
}

/** What was in a model call, or one of its bodies as it was kept. */
async function answerCall(
  recorded: RecordedCase,
  call: string,
  body: string | undefined,
  query: URLSearchParams,
): Promise<Answer | undefined> {
  const exchange = await findExchange(recorded, call);
  if (exchange === undefined) return undefined;
  if (body === undefined) return json(200, await callBodies(exchange, query.get('compare-as') ?? undefined));
  const kept = body === 'request' || body === 'reply' ? exchange[body] : null;
  if (kept === null) return undefined;
  const headers = { 'Content-Disposition': 'attachment' };
  return { status: 200, headers, contentType: 'application/octet-stream', body: bodyStream(kept) };
}

/** What changes something. Must have a JSON body. */
async function answerAction(
  { runs, workbench }: Page,
  segments: string[],
  request: IncomingMessage,
): Promise<Answer | undefined> {
  const body = await readJsonBody(request);
  if (body === undefined) return json(400, { error: 'The body must be JSON of at most 4 MiB.' });
  const [collection, runId, cases, caseId, verb, ...more] = segments;
  if (collection !== 'runs') {
    const done = await workbench.act(segments, body.value);
    return done === undefined ? undefined : json(200, done);
  }
  if (cases !== 'cases' || verb !== 'label' || more.length > 0) return undefined;
  const loaded = await runs.find(runId ?? '');
  if (!loaded?.detail.cases.lines.some(([id]) => id === caseId)) return undefined;
  return json(200, await labelCase(loaded.run, caseId ?? '', body.value));
}

async function answerComparison(runs: StoredRuns, query: URLSearchParams): Promise<Answer | undefined> {
  const [a, b] = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const found = await runs.find(query.get(name) ?? '');
      const arm = query.get(`arm-${name}`) ?? undefined;
      const label = [query.get(name), arm].filter((part) => part !== undefined).join(':');
      return found && sideOf(label, found.run, arm);
    }),
  );
  if (a === undefined || b === undefined) return undefined;
  requireTwoSides(a, b);
  const comparison = compareRuns(a, b);
  requirePairs(comparison);
  return json(200, comparison);
}

/** Answers an error: of a run that cannot be read, or else of the server, which continues. */
function failure(error: unknown): Answer {
  if (error instanceof WhetstoneError) return json(422, { error: error.message });
  if (error instanceof ZodError) return json(400, { error: prettifyError(error) });
  return json(500, { error: 'This could not be read.' });
}

const messageAndHint = (error: unknown): string =>
  error instanceof WhetstoneError
    ? [error.message, error.hint].join('\n')
    : 'The documentation cannot be served.';

const text = (status: number, message: string): Answer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: message === '' ? '' : `${message}\n`,
});

const json = (status: number, value: unknown): Answer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});
