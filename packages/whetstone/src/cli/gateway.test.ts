import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { createGateway, type LedgerLine, scriptFromSteps } from '@whetstone/gateway';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { takeLock } from '../record/lock-file.ts';
import { type Finished, runCommandLine, startCommandLine } from './__fixtures__/command-line.ts';
import { BIN, eventually, readLines } from './__fixtures__/project.ts';
import { type GatewayCommandOptions, gatewayCommand } from './gateway.ts';

const hello = ['--mode', 'script', '--script', 'hello.yaml'];

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-cli-')));
  running = [];
  writeFileSync(
    join(folder, 'hello.yaml'),
    'name: hello\ndefault:\n  - text: Hello.\n    usage: { inputTokens: 1200, cacheReadTokens: 800, outputTokens: 7 }\n',
  );
});
afterEach(async () => {
  for (const gateway of running) await gateway.end();
  rmSync(folder, { recursive: true, force: true });
});

const environment = (env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: folder,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  ...env,
});

type Running = {
  pid: number;
  baseUrl: string;
  key: string;
  /** Ends it, and resolves with what came of it. */
  end(signal?: NodeJS.Signals): Promise<Finished>;
};

/** Gateways that a test has left running. */
let running: Running[];

/** Starts `whetstone gateway` and waits until it can be found. */
const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Running> => {
  const call = { args: ['gateway', ...args], cwd: folder, env: environment(env) };
  return whenFound(startCommandLine(call), env.XDG_CACHE_HOME);
};

/** Starts it in a process of its own. */
function startProcess(args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, [BIN, 'gateway', ...args], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const finished = ended.then(([stdout, stderr, [exitCode, signal]]) => ({
    ...{ exitCode, signal, stdout, stderr },
  }));
  return whenFound({ pid: child.pid ?? 0, finished });
}

async function whenFound(
  { pid, finished }: { pid: number; finished: Promise<Finished> },
  cache?: string,
): Promise<Running> {
  let early: Finished | undefined;
  void finished.then((result) => {
    early = result;
  });
  await eventually('the gateway’s state', () => stateFile(pid, cache) !== undefined || early !== undefined);
  if (early) throw new Error(early.stderr);
  const { baseUrl, key } = stateOf(pid, cache);
  const gateway: Running = {
    ...{ pid, baseUrl, key },
    end(signal = 'SIGTERM') {
      running = running.filter((one) => one !== gateway);
      process.kill(pid, signal);
      return finished;
    },
  };
  running.push(gateway);
  return gateway;
}

const stateOf = (pid: number, cache?: string) =>
  JSON.parse(readFileSync(stateFile(pid, cache) ?? '', 'utf8'));

/** Where the gateway of a process describes itself; `undefined` where it does not. */
function stateFile(pid: number, cache = join(folder, '.cache')): string | undefined {
  const gateways = join(cache, 'whetstone/gateways');
  const names = existsSync(gateways) ? readdirSync(gateways) : [];
  return names
    .map((name) => join(gateways, name, 'gateway.json'))
    .find((file) => existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).pid === pid);
}

/** Runs a command to its end. */
const whetstone = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runCommandLine({ args, cwd: folder, env: environment(env) });

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const ask = async (
  { baseUrl, key }: Pick<Running, 'baseUrl' | 'key'>,
  input = 'Say hello.',
  model = 'gpt-5',
) => {
  const response = await fetch(`${baseUrl}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, input }),
  });
  return { status: response.status, text: await response.text() };
};

describe('whetstone gateway', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'prints how to use it, a line a call, and at %s the totals; then nothing of it is left',
    async (signal) => {
      const gateway = await startProcess([...hello, '--fault', '429@first=1']);
      expect((await ask(gateway)).status).toBe(429);
      expect((await ask(gateway)).text).toContain('Hello.');
      await fetch(`${gateway.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${gateway.key}` } });
      const { stdout, ...ended } = await gateway.end(signal);
      expect(ended).toMatchObject({ exitCode: 0, signal: null });
      const lines = stdout.split('\n');
      expect(lines[0]).toBe(`Gateway (script) at ${gateway.baseUrl}`);
      expect(stdout).not.toContain(gateway.key);
      const calls = lines.filter((line) => /^\d\d:\d\d:\d\d/.test(line));
      expect(calls).toHaveLength(3);
      expect(calls[0]).toMatch(/gpt-5 .* 429 .*fault status/);
      expect(calls[1]).toMatch(/gpt-5 +1,200 +800 +7 +unknown +200 .* ms .* ms +retry 1$/);
      expect(calls[2]).toMatch(/\/v1\/models .*auxiliary$/);
      expect(lines).toContain(
        '  gpt-5: 2 calls, tokens 1,200 in, 800 from cache, 0 to cache, 7 out, cost unknown',
      );
      expect(stdout).toMatch(/\n2 calls in [\d.]+ s, 1 failed, 1 auxiliary\n/);
      expect(stdout).not.toContain('\u001b');
      expect(readdirSync(join(folder, '.cache/whetstone/gateways'))).toEqual([]);
    },
  );

  test('--json: one ledger line per call, the totals last; --ledger: the same lines in a file', async () => {
    const gateway = await start([...hello, '--json', '--ledger', 'calls.jsonl']);
    await ask(gateway);
    await ask(gateway);
    const { stdout, stderr } = await gateway.end();
    const printed = jsonLines(stdout);
    const ledger = readLines<LedgerLine>(join(folder, 'calls.jsonl'));
    expect(printed.slice(0, -1)).toEqual(ledger);
    expect(ledger.map(({ model_asked }) => model_asked)).toEqual(['gpt-5', 'gpt-5']);
    expect(printed.at(-1)).toMatchObject({
      type: 'totals',
      calls: 2,
      usage: { inputTokens: 2400 },
      cost_usd: null,
      wall_ms: expect.any(Number),
    });
    expect(stderr).toContain(gateway.baseUrl);
  });

  test('a call that runs at the end is ended and counted in the totals', async () => {
    const gateway = await start([...hello, '--fault', 'hang-mid-stream', '--json']);
    const response = await fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'gpt-5', input: 'x', stream: true }),
    });
    const rest = response.text().catch(() => 'cut off');
    const { exitCode, stdout } = await gateway.end();
    expect(exitCode).toBe(0);
    expect(await rest).toBe('cut off');
    expect(jsonLines(stdout).at(-1)).toMatchObject({ type: 'totals', calls: 1, failed_calls: 1 });
  });

  test('a budget refuses the call after its end', async () => {
    const gateway = await start([...hello, '--budget-calls', '1']);
    expect((await ask(gateway)).status).toBe(200);
    expect((await ask(gateway)).text).toContain('budget is used up');
    expect((await gateway.end()).stdout).toMatch(/over-budget/);
  });

  test('--calls-at-once limits the calls to a provider, and --allow-endpoint lets others than model calls pass', async () => {
    await using provider = await createGateway();
    await using upstream = await provider.open({
      owner: 'provider',
      mode: { kind: 'script', script: scriptFromSteps('p', [{ text: 'From the provider.' }]) },
      faults: [{ fault: { kind: 'latency', ms: 150 } }],
    });
    const live = ['--mode', 'forward', '--upstream', `openai=${upstream.baseUrl}/v1`, '--json'];
    const embed = async ({ baseUrl, key }: Running): Promise<string> => {
      const headers = { authorization: `Bearer ${key}` };
      const init = { method: 'POST', headers, body: '{}' };
      return (await fetch(`${baseUrl}/v1/embeddings`, init)).text();
    };
    const env = { OPENAI_API_KEY: upstream.key };

    const limited = await start([...live, '--calls-at-once', '1'], env);
    await Promise.all([ask(limited), ask(limited)]);
    expect(await embed(limited)).toContain('To allow it: --allow-endpoint');
    const lines = jsonLines((await limited.end()).stdout);
    expect(lines.slice(0, 2).map(({ queued_ms }) => queued_ms >= 100)).toEqual([false, true]);
    expect(lines.at(-1)).toMatchObject({ unmetered_calls: 0 });

    const open = await start([...live, '--allow-endpoint', 'POST /v1/embeddings'], env);
    await Promise.all([ask(open), ask(open)]);
    await embed(open);
    expect(upstream.ledger.at(-1)?.path).toBe('/v1/embeddings');
    const ended = jsonLines((await open.end()).stdout);
    expect(ended.slice(0, 2).every(({ queued_ms }) => queued_ms < 100)).toBe(true);
    // The scripted provider refused the request, so it cost nothing.
    expect(ended[2]).toMatchObject({ path: '/v1/embeddings', status: 403, flags: ['auxiliary'] });
  });

  test('records what a provider says, with the real key, and replays it without one', async () => {
    await using provider = await createGateway();
    await using upstream = await provider.open({
      owner: 'provider',
      mode: { kind: 'script', script: scriptFromSteps('p', [{ text: 'From the provider.' }]) },
    });
    const live = ['--upstream', `openai=${upstream.baseUrl}/v1`, '--key-env', 'openai=REAL_KEY'];
    const recorder = await start(['--mode', 'record', '--cassette', 'tape.jsonl', ...live, '--json'], {
      REAL_KEY: upstream.key,
    });
    expect((await ask(recorder)).text).toContain('From the provider.');
    await ask(recorder, 'A model of this name.', upstream.key);
    const { stdout } = await recorder.end();
    expect(stdout).not.toContain(upstream.key);
    const [line, strange] = jsonLines(stdout);
    expect(strange).toMatchObject({ model_asked: '[masked]' });
    expect(line).toMatchObject({
      cost_usd: expect.any(Number),
      price_source: expect.stringContaining('genai-prices'),
    });
    expect(readFileSync(join(folder, 'tape.jsonl'), 'utf8')).not.toContain(upstream.key);

    const player = await start(['--mode', 'replay', '--cassette', 'tape.jsonl']);
    expect((await ask(player)).text).toContain('From the provider.');
    expect((await ask(player, 'Something else.')).text).toContain('First difference');
    expect((await player.end()).stdout).toContain('replayed');
  });

  test.each<[string, Partial<GatewayCommandOptions>, string]>([
    ['no mode', {}, 'The mode is missing.'],
    ['no script', { mode: 'script' }, 'The script is missing.'],
    ['no cassette', { mode: 'replay' }, 'The cassette is missing.'],
    ['a script that is not there', { mode: 'script', script: 'none.yaml' }, 'none.yaml'],
    ['a cassette that is not there', { mode: 'replay', cassette: 'none.jsonl' }, 'none.jsonl'],
    [
      'a flag of another mode',
      { mode: 'forward', script: 'x.yaml' },
      '--script only applies to --mode script.',
    ],
    [
      'a pace in a mode without one',
      { mode: 'forward', timing: 'kept' },
      '--timing only applies to --mode replay',
    ],
    ['a provider in a mode without one', { mode: 'replay', upstream: ['openai'] }, 'replay with --miss fork'],
    ['a limit in a mode without one', { mode: 'script', callsAtOnce: 4 }, '--calls-at-once only'],
    [
      'an endpoint in a mode without them',
      { mode: 'script', allowEndpoint: ['/v1/files'] },
      '--allow-endpoint only applies to --mode forward, record or replay',
    ],
    [
      'an endpoint that is none',
      { mode: 'replay', cassette: 'none.jsonl', allowEndpoint: ['files'] },
      'does not name an endpoint',
    ],
    ['a key that is not set', { mode: 'forward', keyEnv: ['openai=NOT_SET'] }, 'NOT_SET'],
    ['a fault that is none', { mode: 'script', fault: ['rain'] }, 'kind of fault "rain"'],
    ['a ledger that cannot be written', { mode: 'script', ledger: 'no/such/file' }, 'cannot be written'],
  ])('%s is a usage error that says so', async (_, options, message) => {
    const script =
      options.mode === 'script' && (options.fault ?? options.ledger ?? options.callsAtOnce)
        ? join(folder, 'hello.yaml')
        : undefined;
    const asked = {
      upstream: [],
      keyEnv: [],
      fault: [],
      allowEndpoint: [],
      ...present({ script }),
      ...options,
    };
    const failure = await gatewayCommand(asked, process).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WhetstoneError);
    expect(failure).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(message),
    });
  });

  test.each([
    ['an unknown mode', ['--mode', 'recrod'], 'Allowed choices are forward, record, replay, script'],
    ['a budget of nothing', ['--mode', 'forward', '--budget-usd', '0'], 'over 0'],
    ['no provider', ['--mode', 'forward'], 'no key of one is set'],
  ])('%s: exit 2, and stdout is empty', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await whetstone(['gateway', ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('a port that is taken is reported', async () => {
    const { baseUrl } = await start(hello);
    const { exitCode, stderr } = await whetstone(['gateway', ...hello, '--port', new URL(baseUrl).port]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Choose another --port');
  });
});

describe('whetstone gateway env', () => {
  test('lines for a shell, of the gateway that runs', async () => {
    const gateway = await start(hello);
    const { stdout } = await whetstone(['gateway', 'env']);
    const seen = execFileSync(
      '/bin/sh',
      ['-c', `${stdout}printf '%s %s' "$OPENAI_BASE_URL" "$OPENAI_API_KEY"`],
      {
        encoding: 'utf8',
        env: {},
      },
    );
    expect(seen).toBe(`${gateway.baseUrl}/v1 ${gateway.key}`);
    expect(statSync(stateFile(gateway.pid) ?? '').mode & 0o777).toBe(0o600);
  });

  test('files of an agent lie in the gateway’s own folder, under a name without spaces or with', async () => {
    const cache = join(folder, "it's a cache");
    mkdirSync(cache);
    const gateway = await start(hello, { XDG_CACHE_HOME: cache });
    const { stdout } = await whetstone(['gateway', 'env', 'codex', '--model', 'm-1'], {
      XDG_CACHE_HOME: cache,
    });
    const config = execFileSync('/bin/sh', ['-c', `${stdout}cat "$CODEX_HOME/config.toml"`], {
      encoding: 'utf8',
    });
    expect(config).toContain(`base_url = "${gateway.baseUrl}/v1"`);
    expect(config).toContain('model = "m-1"');
    expect(stdout).toContain(gateway.key);
    await gateway.end();
    expect(readdirSync(join(cache, 'whetstone/gateways'))).toEqual([]);
  });

  test('no running gateway, and more than one, are reported; a URL chooses one', async () => {
    const none = await whetstone(['gateway', 'env', 'pi']);
    expect(none).toMatchObject({ exitCode: 2, stdout: '' });
    expect(none.stderr).toContain('No gateway is running.');
    const [first, second] = [await start(hello), await start(hello)];
    const two = await whetstone(['gateway', 'env', 'pi']);
    expect(two).toMatchObject({ exitCode: 2, stdout: '' });
    for (const { baseUrl } of [first, second]) expect(two.stderr).toContain(baseUrl);
    expect(two.stderr).not.toContain(first.key);
    for (const url of [second.baseUrl, `${second.baseUrl}/v1`, new URL(second.baseUrl).origin]) {
      expect((await whetstone(['gateway', 'env', '--gateway', url])).stdout).toContain(second.key);
    }
    const elsewhere = await whetstone(['gateway', 'env', '--gateway', 'http://127.0.0.1:1']);
    expect(elsewhere.stderr).toContain('Add its key');
  });

  test('a gateway that was killed does not count, and its folder is removed', async () => {
    const gateway = await startProcess(hello);
    await gateway.end('SIGKILL');
    expect(stateFile(gateway.pid)).toBeDefined();
    expect((await whetstone(['gateway', 'env'])).stderr).toContain('No gateway is running.');
    expect(readdirSync(join(folder, '.cache/whetstone/gateways'))).toEqual([]);
  });

  test('a gateway whose process cannot be seen is kept as long as it holds its lock', async () => {
    const gateway = await start(hello);
    const other = join(folder, '.cache/whetstone/gateways/00000000000000a1');
    mkdirSync(other);
    const state = stateOf(gateway.pid);
    const [pid, baseUrl] = [999_999_999, 'http://127.0.0.1:1/lanes/elsewhere'];
    writeFileSync(join(other, 'gateway.json'), JSON.stringify({ ...state, pid, baseUrl }));
    const lock = await takeLock(`${other}.lock`);
    expect((await whetstone(['gateway', 'env'])).stdout).toContain(gateway.baseUrl);
    expect(existsSync(other)).toBe(true);
    lock?.release();
    writeFileSync(`${other}.lock`, '');
    expect((await whetstone(['gateway', 'env'])).stdout).toContain(gateway.baseUrl);
    expect(existsSync(other)).toBe(false);
  });

  test('a gateway of somebody else needs its key', async () => {
    const named = ['--gateway', 'http://127.0.0.1:9/lanes/a/v1/', '--key', "k'y"];
    const { stdout } = await whetstone(['gateway', 'env', 'claude', ...named]);
    expect(stdout).toContain("export ANTHROPIC_BASE_URL='http://127.0.0.1:9/lanes/a'\n");
    expect(stdout).toContain("export ANTHROPIC_API_KEY='k'\\''y'\n");
    expect(await whetstone(['gateway', 'env', '--key', 'k'])).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('an unknown agent: the known agents', async () => {
    const { exitCode, stdout, stderr } = await whetstone(['gateway', 'env', 'codx']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('There is no kind of agent "codx".');
    expect(stderr).toContain('did you mean codex?');
    expect(stderr).toContain('qwen-code, opencode-cli, pi, copilot');
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasScript)(
  'on a terminal the table is redrawn, and stays at the end',
  { tags: 'script' },
  async () => {
    const command = [process.execPath, BIN, 'gateway', ...hello];
    const line = `stty cols 100 rows 14; exec ${command.map((part) => `'${part}'`).join(' ')}`;
    const child = spawn('script', ['-qefc', line, '/dev/null'], {
      cwd: folder,
      env: environment({ TERM: 'xterm' }),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const gateways = join(folder, '.cache/whetstone/gateways');
    await eventually('the introduction', () => output.includes('Ctrl-C ends it.'));
    const name = readdirSync(gateways).find((one) => !one.endsWith('.lock')) ?? '';
    const gateway = JSON.parse(readFileSync(join(gateways, name, 'gateway.json'), 'utf8'));
    for (let count = 1; count <= 9; count += 1) await ask(gateway);
    await eventually('the ninth call', () => output.includes('9 calls'));
    child.stdin.write('\u0003');
    const [exitCode] = await once(child, 'close');
    expect(exitCode).toBe(0);
    expect(output.lastIndexOf('\u001b[?25h')).toBeGreaterThan(output.lastIndexOf('\u001b[?25l'));
    const text = stripVTControlCharacters(output);
    expect(text.match(/ gpt-5 /g)?.length).toBeGreaterThan(9);
    expect(text).toMatch(/\n9 calls in [\d.]+ s\r?\n {2}gpt-5: 9 calls, tokens 10,800 in/);
    for (const row of text.split(/\r?\n/).filter((each) => / gpt-5 /.test(each))) {
      expect(row.trimEnd().length).toBeLessThanOrEqual(100);
    }
  },
);
