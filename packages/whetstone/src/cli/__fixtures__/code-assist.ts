import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createGateway, scriptFromSteps } from '@whetstone/gateway';

/** What Code Assist says of an account; nothing of it costs anything. */
const ACCOUNT: Readonly<Record<string, object>> = {
  loadCodeAssist: {
    currentTier: { id: 'standard-tier', name: 'Standard' },
    cloudaicompanionProject: 'project-1',
  },
  listExperiments: { flags: [], experimentIds: [] },
  retrieveUserQuota: { buckets: [] },
  fetchAdminControls: {},
  recordCodeAssistMetrics: {},
};

/**
 * Google's Code Assist with a scripted model, and the server at which Google renews and checks tokens. Only `token` is
 * valid. `renewal` is what `/token` gives for a refresh token.
 *
 * Google's addresses are https, so they are reached over a proxy that connects every host to this server, with a
 * certificate that is made for it.
 */
export async function startCodeAssist(token: string, renewal: object) {
  const refused: string[] = [];
  const gateway = await createGateway();
  const script = scriptFromSteps('login', [{ text: 'Hello.', usage: { inputTokens: 70, outputTokens: 3 } }]);
  const lane = await gateway.open({ owner: 'provider', mode: { kind: 'script', script } });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://code-assist');
    const body = await textOf(request);
    const send = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const isValid = (given: unknown) => given === token || given === `Bearer ${token}`;
    if (pathname === '/token') return void send(200, renewal);
    if (pathname === '/tokeninfo') {
      const given = searchParams.get('access_token') ?? new URLSearchParams(body).get('access_token');
      const signsIn = isValid(given) || isValid(request.headers.authorization);
      return void send(signsIn ? 200 : 400, signsIn ? { expires_in: 3000, scope: 'any' } : { error: 'invalid_token' });
    }
    if (!isValid(request.headers.authorization)) {
      refused.push(`${request.method} ${pathname}`);
      return void send(401, { error: { code: 401, status: 'UNAUTHENTICATED', message: 'sign in' } });
    }
    if (pathname === '/oauth2/v2/userinfo') return void send(200, { email: 'user@example.com' });
    const method = pathname.split(':').at(-1) ?? '';
    const account = ACCOUNT[method];
    if (account) return void send(200, account);
    const { model, request: asked } = JSON.parse(body) as { model: string; request: object };
    const reply = await fetch(`${lane.baseUrl}/v1beta/models/${model}:${method}${search}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': lane.key },
      body: JSON.stringify(asked),
    });
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
    response.end((await reply.text()).replaceAll(/^data: (.*)$/gm, 'data: {"response":$1}'));
  }

  const plain = createServer(answer);
  const url = `http://127.0.0.1:${await listen(plain)}`;
  const certificate = makeCertificate();
  const secure = createSecureServer(certificate, answer);
  const securePort = await listen(secure);
  const proxy = createServer();
  proxy.on('connect', (_, client, head) => {
    const onward = connect(securePort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      client.pipe(onward).pipe(client);
    });
    onward.on('error', () => client.destroy());
    client.on('error', () => onward.destroy());
  });
  const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
  return {
    refused,
    /** For the agent. */
    env: {
      CODE_ASSIST_ENDPOINT: url,
      HTTPS_PROXY: proxyUrl,
      NO_PROXY: '127.0.0.1',
      NODE_EXTRA_CA_CERTS: certificate.file,
    },
    async [Symbol.asyncDispose]() {
      for (const server of [plain, secure, proxy]) {
        server.close();
        server.closeAllConnections();
      }
      await gateway.close();
      rmSync(dirname(certificate.file), { recursive: true });
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'code-assist-'));
  const [key, cert] = [join(folder, 'google.key'), join(folder, 'google.crt')];
  const names = ['oauth2.googleapis.com', 'www.googleapis.com'].map((name) => `DNS:${name}`).join(',');
  const args = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert];
  const subject = ['-subj', '/CN=googleapis', '-days', '2', '-addext', `subjectAltName=${names}`];
  execFileSync('openssl', ['req', '-x509', ...args, ...subject], { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(cert), file: cert };
}
