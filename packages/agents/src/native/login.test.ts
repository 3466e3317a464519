import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { agentConfig, startAttempt } from '../__fixtures__/attempt.ts';
import type { DriverAgentConfig } from '../config.ts';
import { createAgent } from '../create-agent.ts';
import { agentSecrets } from '../kit/agent-secrets.ts';
import { leadsToGateway } from '../kit/leads-to-gateway.ts';
import { keepRefreshedLogin } from './keep-refreshed-login.ts';
import { loginUpstreams, readLogin } from './login.ts';
import type { DrivenAgentKind } from './native-agents.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'login-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const agent = (kind: DrivenAgentKind): DriverAgentConfig =>
  agentConfig({ kind, name: 'mine', driver: { auth: 'login', inherit: [] } }) as DriverAgentConfig;

function put(path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return file;
}

const access = 'sk-ant-oat01-access-0001';
const refresh = 'sk-ant-ort01-refresh-0001';
const claudeLogin = {
  claudeAiOauth: { accessToken: access, refreshToken: refresh, scopes: ['user:inference'] },
};

describe('the login of an agent', () => {
  test.each<[DrivenAgentKind, path: string, content: unknown, tokens: string[]]>([
    ['claude-code', '.claude/.credentials.json', claudeLogin, [access, refresh]],
    [
      'codex-cli',
      '.codex/auth.json',
      { OPENAI_API_KEY: null, tokens: { id_token: 'id-token-00001', account_id: 'account-00001' } },
      ['id-token-00001'],
    ],
    [
      'gemini-cli',
      '.gemini/oauth_creds.json',
      { access_token: 'ya29.token-1', token_type: 'Bearer' },
      ['ya29.token-1'],
    ],
    [
      'opencode-cli',
      '.local/share/opencode/auth.json',
      { x: { type: 'api', key: 'sk-0123456789' } },
      ['sk-0123456789'],
    ],
    [
      'opencode-sdk',
      '.local/share/opencode/auth.json',
      { x: { type: 'oauth', access: 'access-of-opencode', refresh: 'refresh-of-opencode' } },
      ['access-of-opencode', 'refresh-of-opencode'],
    ],
    ['pi', '.pi/agent/auth.json', { anthropic: { access, refresh, expires: 1 } }, [access, refresh]],
  ])('%s: is its file, and its tokens are secrets', (kind, path, content, tokens) => {
    const file = put(path, content);
    const login = readLogin(agent(kind), { HOME: home });
    expect(login).toEqual({
      place: file,
      env: {},
      file: { path, content: JSON.stringify(content) },
      secrets: tokens,
    });
    expect(agentSecrets(agent(kind), { HOME: home })).toEqual(tokens);
  });

  test('is a token in a variable, which comes before the file', () => {
    put('.claude/.credentials.json', claudeLogin);
    const environment = { HOME: home, CLAUDE_CODE_OAUTH_TOKEN: 'token', GH_TOKEN: 'github' };
    expect(readLogin(agent('claude-code'), environment)).toMatchObject({
      env: { CLAUDE_CODE_OAUTH_TOKEN: 'token' },
    });
    expect(readLogin(agent('copilot'), environment)).toMatchObject({ env: { GH_TOKEN: 'github' } });
  });

  test('is where the variable of the program says', () => {
    const file = put('elsewhere/auth.json', { tokens: {} });
    expect(readLogin(agent('codex-cli'), { CODEX_HOME: join(home, 'elsewhere') }).place).toBe(file);
  });

  test.each<[DrivenAgentKind, string]>([
    ['claude-code', 'CLAUDE_CODE_OAUTH_TOKEN: not set; '],
    ['codex-cli', '/.codex/auth.json: it has no tokens.'],
    ['copilot', 'COPILOT_GITHUB_TOKEN, GH_TOKEN, GITHUB_TOKEN: not set.'],
    ['gemini-cli', '/.gemini/oauth_creds.json: it is not a JSON object.'],
    ['pi', '/.pi/agent/auth.json: it has no anthropic and no openai-codex.'],
    ['qwen-code', 'ended the free logins of Qwen Code on 15 April 2026'],
  ])('%s: is an error before anything starts when there is none', async (kind, reason) => {
    put('.codex/auth.json', { OPENAI_API_KEY: 'sk-0123456789' });
    put('.gemini/oauth_creds.json', 'not JSON');
    put('.pi/agent/auth.json', { openrouter: { key: 'sk-0123456789' } });
    expect(() => readLogin(agent(kind), { HOME: home })).toThrow(
      expect.objectContaining({ code: 'agent-login-missing', message: expect.stringContaining(reason) }),
    );
  });

  test('goes to the provider of its program, or to the address of the configuration', () => {
    const codex = { baseUrl: 'https://chatgpt.com/backend-api', key: 'client' };
    expect(loginUpstreams(agent('codex-cli'))).toEqual({ 'openai-responses': codex });
    const own = agentConfig({
      kind: 'codex-cli',
      driver: { auth: 'login', baseUrl: 'http://own', inherit: [] },
    });
    expect(loginUpstreams(own)).toEqual({ 'openai-responses': { ...codex, baseUrl: 'http://own' } });
    expect([own, agent('gemini-cli'), agent('opencode-sdk'), agent('copilot')].map(leadsToGateway)).toEqual([
      ...[true, false, false, true],
    ]);
  });
});

describe('a login that an agent refreshed', () => {
  const given = JSON.stringify(claudeLogin);
  const refreshed = given.replaceAll('-0001', '-0002');

  test('replaces the file of the user, behind a link too, readable only for its owner', () => {
    const file = put('real/credentials.json', given);
    chmodSync(file, 0o644);
    const link = join(home, 'credentials.json');
    symlinkSync(file, link);
    expect(keepRefreshedLogin(link, given, refreshed)).toContain('has the new one');
    expect(readFileSync(file, 'utf8')).toBe(refreshed);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(keepRefreshedLogin(link, refreshed, refreshed)).toBeUndefined();
  });

  test.each<[string, now: string, content: string]>([
    ['has changed meanwhile', given.replaceAll('-0001', '-0003'), refreshed],
    ['lacks tokens', given, '{"claudeAiOauth":{"accessToken":"sk-ant-oat01-access-0002"}}'],
    ['lacks tokens', given, 'not JSON'],
  ])('is not kept, with the reason: %s', (reason, now, content) => {
    const file = put('credentials.json', now);
    expect(keepRefreshedLogin(file, given, content)).toContain(reason);
    expect(readFileSync(file, 'utf8')).toBe(now);
  });

  test('comes back to the user when the agent ends, and is masked', async () => {
    const file = put('.claude/.credentials.json', given);
    const program = `
      stat -c %a "$HOME/.claude/.credentials.json"
      echo "key: $ANTHROPIC_API_KEY, url: $ANTHROPIC_BASE_URL, token: $(cat "$HOME/.claude/.credentials.json")"
      printf %s '${refreshed}' > "$HOME/.claude/.credentials.json"
      echo '{"type":"result","subtype":"success","is_error":false,"result":"Done."}'`;
    await using attempt = await startAttempt('Do it', {}, { claude: program });
    const logged: string[] = [];
    const environment = {
      HOME: home,
      PATH: `${attempt.folder}/programs:${process.env.PATH}`,
      XDG_CACHE_HOME: home,
    };
    const claude = await createAgent(agent('claude-code'), { environment });
    const lane = { baseUrl: 'http://127.0.0.1:9/lanes/a', key: 'sk-whetstone-lane', env: {} };
    const turn = await claude.send(
      { text: 'Do it' },
      { ...attempt.context, lane, log: (message) => void logged.push(message) },
    );
    expect(turn.status).toBe('completed');
    const printed = await attempt.sandbox.readFile(attempt.context.files.stdoutFile);
    expect(printed).toContain('600\nkey: , url: http://127.0.0.1:9/lanes/a.[masked], token: {');
    expect(printed).not.toContain(access);
    expect(readFileSync(file, 'utf8')).toBe(refreshed);
    expect(logged.join('\n')).toContain(`${file} has the new one`);
    expect(logged.join('\n')).not.toContain('-0002');
  });
});

test('an agent that keeps repeating a refused call is ended, and a failure that can heal is not', async () => {
  const retry = (status: number) =>
    `echo '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":${status},"error":"x"}'`;
  const end = `echo '{"type":"result","subtype":"success","is_error":false,"result":"Done."}'`;
  const played = async (lines: string[]) => {
    await using attempt = await startAttempt('Do it', {}, { claude: lines.join('\n') });
    const environment = { PATH: `${attempt.folder}/programs:${process.env.PATH}`, ANTHROPIC_API_KEY: 'key' };
    const config = agentConfig({ kind: 'claude-code', driver: { inherit: [] } });
    return await (await createAgent(config, { environment })).send({ text: 'Do it' }, attempt.context);
  };
  expect(await played([retry(401), retry(401), retry(401), 'sleep 60', end])).toMatchObject({
    status: 'failed',
    exit: { ended: 'exit', message: expect.stringContaining('keeps refusing its key or login') },
  });
  const healing = [401, 401, 529, 401, 429, 429, 429].map(retry);
  expect(await played([...healing, end])).toMatchObject({ status: 'completed' });
});
