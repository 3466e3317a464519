import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { createGateway, type Lane, scriptFromSteps } from '@whetstone/gateway';
import { afterEach, expect, test } from 'vitest';
import { cacheFolder, programs } from '../../../../examples/real-agents/install.ts';
import { everything, makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project[Symbol.dispose]());

const gitHubToken = 'github_pat_of-the-user-0001';
const openCodeKey = 'sk-ant-api-of-the-user-0001';
const claudeToken = 'sk-ant-oat01-of-the-user-0001';
const inAnHour = () => Date.now() + 3_600_000;

/** As ChatGPT gives them out: three parts, of which the second says who it is for. */
function chatGptToken(expiresAt = inAnHour()): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const account = { chatgpt_account_id: 'account-1', chatgpt_plan_type: 'plus' };
  const claims = { exp: Math.floor(expiresAt / 1000), 'https://api.openai.com/auth': account };
  return `${part({ alg: 'none' })}.${part(claims)}.c2ln`;
}

/** What GitHub says of its models and of an account; nothing of it costs anything. */
const GITHUB: Readonly<Record<string, object>> = {
  '/copilot_internal/user': {
    login: 'me',
    copilot_plan: 'individual',
    chat_enabled: true,
    cli_enabled: true,
  },
  '/models': {
    data: [
      {
        id: 'gpt-5.4',
        name: 'GPT',
        object: 'model',
        vendor: 'OpenAI',
        version: '1',
        model_picker_enabled: true,
        policy: { state: 'enabled' },
        supported_endpoints: ['/chat/completions'],
        capabilities: {
          type: 'chat',
          family: 'gpt-5.4',
          limits: {
            max_context_window_tokens: 128_000,
            max_prompt_tokens: 100_000,
            max_output_tokens: 16_000,
          },
          supports: { tool_calls: true, streaming: true },
        },
      },
    ],
  },
};

/** A scripted model behind a provider that takes only these tokens, as `Bearer`; it gives out `renewed`. */
async function startProvider(tokens: readonly string[], renewed: object = {}) {
  const refused: string[] = [];
  const gateway = await createGateway();
  const script = scriptFromSteps('login', [{ text: 'Hello.', usage: { inputTokens: 70, outputTokens: 3 } }]);
  const lane: Lane = await gateway.open({ owner: 'provider', mode: { kind: 'script', script } });
  const server = createServer(async (request, response) => {
    const free = GITHUB[request.url ?? ''];
    const isModelCall = request.method === 'POST';
    const { authorization, 'x-api-key': key } = request.headers;
    const signsIn = key === openCodeKey || tokens.some((token) => authorization === `Bearer ${token}`);
    if (request.url === '/oauth/token') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(renewed));
      return;
    }
    if ((isModelCall || free) && !signsIn) {
      refused.push(`${request.method} ${request.url}`);
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"sign in"}}');
      return;
    }
    if (free) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(free));
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = { 'x-api-key': lane.key, 'content-type': 'application/json' };
    const body = isModelCall ? { body: Buffer.concat(chunks) } : {};
    const answer = await fetch(`${lane.baseUrl}${request.url}`, {
      method: request.method ?? '',
      headers,
      ...body,
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    refused,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await gateway.close();
    },
  };
}

function put(path: string, content: object): void {
  const file = join(project.root, 'home', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
}

test('released agents use the login of the user, and the gateway meters them without a key', async () => {
  const chatGpt = chatGptToken();
  await using provider = await startProvider([claudeToken, chatGpt, gitHubToken]);
  const login = { auth: 'login', base_url: provider.url };
  const anthropic = { options: { baseURL: `${provider.url}/v1` } };
  project = makeProject({
    tasks: [{ id: 'one', prompt: 'Say hello.' }],
    config: {
      agents: {
        claude: { kind: 'claude-code', ...login },
        codex: { kind: 'codex-cli', ...login },
        'claude-sdk': { kind: 'claude-agent-sdk', ...login },
        'codex-sdk': { kind: 'codex-sdk', ...login },
        pi: { kind: 'pi', ...login },
        copilot: { kind: 'copilot', ...login, env: { COPILOT_DEBUG_GITHUB_API_URL: provider.url } },
        opencode: {
          kind: 'opencode-cli',
          auth: 'login',
          env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { anthropic } }) },
        },
      },
      variants: { plain: {} },
      gateway: { mode: 'forward' },
    },
  });
  put('.claude/.credentials.json', {
    claudeAiOauth: {
      accessToken: claudeToken,
      refreshToken: 'sk-ant-ort01-of-the-user-0001',
      expiresAt: inAnHour(),
      scopes: ['user:inference', 'user:profile'],
      subscriptionType: 'max',
    },
  });
  put('.codex/auth.json', {
    auth_mode: 'chatgpt',
    OPENAI_API_KEY: null,
    tokens: {
      id_token: chatGpt,
      access_token: chatGpt,
      refresh_token: 'refresh-0001-0001',
      account_id: 'account-1',
    },
    last_refresh: new Date().toISOString(),
  });
  put('.local/share/opencode/auth.json', { anthropic: { type: 'api', key: openCodeKey } });
  put('.pi/agent/auth.json', {
    anthropic: { type: 'oauth', access: claudeToken, refresh: 'refresh-0002-0002', expires: inAnHour() },
  });
  const { stderr } = await project.whetstone(['run'], {
    HOME: join(project.root, 'home'),
    XDG_CACHE_HOME: cacheFolder,
    COPILOT_GITHUB_TOKEN: gitHubToken,
    PATH: [programs, process.env.PATH].join(delimiter),
  });
  expect(stderr).not.toContain('error');
  expect(stderr).toContain('The agent opencode does not use the gateway: the calls of its login');
  expect(provider.refused).toEqual([]);
  const { rows, directory } = project.latest();
  expect(rows.map((row) => [row.agent_name, row.outcome, row.usage_source, row.models.length])).toEqual([
    ['claude', 'passed', 'gateway', 1],
    ['codex', 'passed', 'gateway', 1],
    ['claude-sdk', 'passed', 'gateway', 1],
    ['codex-sdk', 'passed', 'gateway', 1],
    ['pi', 'passed', 'gateway', 1],
    ['copilot', 'passed', 'gateway', 1],
    ['opencode', 'passed', 'agent', 1],
  ]);
  for (const row of rows) {
    expect(row.output_tokens).toBeGreaterThan(0);
    expect(row).toMatchObject({ auth: 'login' });
  }
  expect(everything(directory).toString()).not.toMatch(/of-the-user|refresh-000|c2ln/);
});

test('a login that Codex refreshes in a case goes back to the user', async () => {
  const fresh = chatGptToken();
  const tokens = { id_token: fresh, access_token: fresh, refresh_token: 'refresh-0002-0002' };
  await using provider = await startProvider([fresh], tokens);
  const env = { CODEX_REFRESH_TOKEN_URL_OVERRIDE: `${provider.url}/oauth/token` };
  project = makeProject({
    tasks: [{ id: 'one', prompt: 'Say hello.' }],
    config: {
      agents: { codex: { kind: 'codex-cli', auth: 'login', base_url: provider.url, env } },
      variants: { plain: {} },
      // Codex refreshes its login past the gateway.
      sandbox: 'process',
      gateway: { mode: 'forward' },
    },
  });
  const stale = chatGptToken(Date.now() - 3_600_000);
  const given = {
    id_token: stale,
    access_token: stale,
    refresh_token: 'refresh-0001-0001',
    account_id: 'account-1',
  };
  const lastRefresh = new Date(Date.now() - 30 * 86_400_000).toISOString();
  put('.codex/auth.json', {
    auth_mode: 'chatgpt',
    OPENAI_API_KEY: null,
    tokens: given,
    last_refresh: lastRefresh,
  });
  const home = join(project.root, 'home');
  await project.whetstone(['run'], { HOME: home, PATH: [programs, process.env.PATH].join(delimiter) });
  const { rows, directory } = project.latest();
  expect(rows).toMatchObject([{ outcome: 'passed', usage_source: 'gateway' }]);
  const file = join(home, '.codex/auth.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ tokens });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(everything(directory).toString()).not.toMatch(/refresh-000|c2ln/);
});
