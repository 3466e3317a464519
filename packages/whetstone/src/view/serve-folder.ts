import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, sep } from 'node:path';
import { createGuard, type Guard } from './access-guard.ts';
import { listen } from './listen.ts';

export interface FolderServer extends AsyncDisposable {
  readonly url: string;
}

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/**
 * Serves the files of a folder on loopback, to the browser of this machine. They are not secret, so that no key is needed; requests of
 * other sites and with other host names are refused. `port`: default 0, any free port.
 * @throws WhetstoneError `view-port-unavailable`
 */
export async function serveFolder(
  folder: string,
  { port = 0 }: { port?: number } = {},
): Promise<FolderServer> {
  // Only what is there now: no path of a request reaches the disk.
  const files = new Set(
    globSync('**/*.*', { cwd: folder })
      .map((name) => name.replaceAll(sep, '/'))
      .filter((name) => extname(name) in CONTENT_TYPES),
  );
  const server = createServer({ requestTimeout: 30_000 });
  await listen(server, port, '127.0.0.1');
  const address = server.address() as AddressInfo;
  const site: Site = { folder, files, guard: createGuard(address.port) };
  server.on('request', (request, response) => void answer(site, request, response));
  return {
    url: `http://127.0.0.1:${address.port}/`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type Site = { folder: string; files: ReadonlySet<string>; guard: Guard };

async function answer(
  { folder, files, guard }: Site,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = request.method === 'POST' ? METHOD : guard.refusal(asOpened(request));
  if (refusal) return void response.writeHead(refusal.status, PLAIN).end(refusal.message);
  const path = pathOf(request.url ?? '');
  const name = files.has(path) ? path : '404.html';
  const body = await readFile(join(folder, name)).catch(() => undefined);
  if (body === undefined) return void response.writeHead(404, PLAIN).end('There is no such page.');
  const contentType = CONTENT_TYPES[extname(name)] ?? '';
  response.writeHead(name === path ? 200 : 404, {
    'Content-Type': contentType,
    'Content-Security-Policy': policyOf(name.endsWith('.html') ? body.toString() : ''),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-cache',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** A link anywhere may open a page in a tab, as from the page of runs, which has another port. Nothing else may ask from elsewhere. */
function asOpened(request: IncomingMessage): Pick<IncomingMessage, 'method' | 'headers'> {
  const { 'sec-fetch-site': _, ...headers } = request.headers;
  const isOpened = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return { method: request.method, headers: isOpened ? headers : request.headers };
}

const METHOD = { status: 405, message: 'This server only knows GET and HEAD.' } as const;
const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };

function pathOf(address: string): string {
  try {
    const path = decodeURIComponent(new URL(address, 'http://localhost').pathname).slice(1);
    return path === '' || path.endsWith('/') ? `${path}index.html` : path;
  } catch {
    return '';
  }
}

/** The page runs its own files and the scripts that are in it, and asks no other server for anything. */
function policyOf(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, code = '']) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(' ')}`,
    "style-src 'self' 'unsafe-inline'", // the colours of code are in attributes
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
