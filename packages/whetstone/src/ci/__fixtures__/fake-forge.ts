import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server of GitHub or GitLab answers once, in place of its usual answer. */
export type Refusal = { status: number; body: object | string; headers?: Record<string, string> };

export type Comment = { id: number; body: string; author: string; bot?: boolean };

/**
 * The part of the APIs of GitHub and GitLab that comments need, over HTTP, with their paths, pages and error bodies. Only
 * `token` is valid. `refusals` are answered first, one per request of that method.
 */
export async function startForge(
  kind: 'github' | 'gitlab',
  options: { token?: string; self?: string | null; comments?: Comment[]; refusals?: Record<string, Refusal[]> } = {},
) {
  const { token = 'token-of-the-job', self = 'whetstone-bot', refusals = {} } = options;
  const comments: Comment[] = [...(options.comments ?? [])];
  const requests: { method: string; path: string; body: string }[] = [];
  const list = kind === 'github' ? '/repos/acme/tea/issues/7/comments' : '/projects/42/merge_requests/7/notes';
  const one = kind === 'github' ? '/repos/acme/tea/issues/comments/' : `${list}/`;
  const shown = ({ id, body, author, bot = true }: Comment) =>
    kind === 'github'
      ? { id, body, user: { login: author, type: bot ? 'Bot' : 'User' }, html_url: `https://github.example/c/${id}` }
      : { id, body, author: { username: author } };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://forge');
    const body = await textOf(request);
    requests.push({ method: request.method ?? '', path: url.pathname + url.search, body });
    const send = (status: number, value: object | string, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(typeof value === 'string' ? value : JSON.stringify(value));
    const given = request.headers.authorization ?? request.headers['private-token'];
    if (given !== (kind === 'github' ? `Bearer ${token}` : token)) {
      return void send(401, kind === 'github' ? { message: 'Bad credentials' } : { message: '401 Unauthorized' });
    }
    if (url.pathname === '/user') {
      if (self === null) return void send(403, { message: 'Resource not accessible by integration' });
      return void send(200, { login: self, username: self });
    }
    const refusal = refusals[request.method ?? '']?.shift();
    if (refusal) return void send(refusal.status, refusal.body, refusal.headers);
    if (url.pathname === list && request.method === 'GET') {
      const size = Number(url.searchParams.get('per_page'));
      const page = Number(url.searchParams.get('page'));
      return void send(200, comments.slice((page - 1) * size, page * size).map(shown));
    }
    const text = body === '' ? '' : (JSON.parse(body) as { body: string }).body;
    if (url.pathname === list && request.method === 'POST') {
      const made = { id: 1000 + comments.length, body: text, author: self ?? 'actions[bot]' };
      comments.push(made);
      return void send(201, shown(made));
    }
    const found = comments.find(({ id }) => url.pathname === `${one}${id}`);
    if (found && request.method === (kind === 'github' ? 'PATCH' : 'PUT')) {
      found.body = text;
      return void send(200, shown(found));
    }
    send(404, { message: 'Not Found', status: '404' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    comments,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
