import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway, defineScript, type Gateway, type Script } from '@whetstone/gateway';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SOON = { timeout: 30_000 };

const { PATH, NODE_COMPILE_CACHE } = process.env;

let gateway: Gateway;
let folder: string;
beforeEach(async () => {
  gateway = await createGateway();
  folder = mkdtempSync(join(tmpdir(), 'loop-example-'));
});
afterEach(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts an example against a scripted model; `wire` is what its keys lead to. */
async function start(example: string, script: Script, { args = [] as string[], keys = /^OPENAI_/ } = {}) {
  const lane = await gateway.open({ owner: example, mode: { kind: 'script', script } });
  const env = Object.fromEntries(Object.entries(lane.env).filter(([name]) => keys.test(name)));
  const child = spawn(process.execPath, [join(import.meta.dirname, example), ...args], {
    cwd: folder,
    env: { PATH, NODE_COMPILE_CACHE, HOME: folder, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  return { child, lane, output: () => output, ended: once(child, 'close').then(([code]) => code) };
}

test('the chat works on what is typed, is steered while it works, and ends with its input', async () => {
  const seen: string[] = [];
  const script = defineScript({
    name: 'chat',
    play({ step, text }) {
      if (text.includes('Rather in capitals')) seen.push(`steered before call ${step}`);
      if (step === 0)
        return { text: 'One moment.', calls: [{ tool: 'write', path: 'a.txt', content: 'hi\n' }] };
      const wait = 'until test -e go; do sleep 0.02; done';
      if (step === 1) return { calls: [{ tool: 'shell', command: wait }] };
      return { text: '\u001b]0;title\u0007Written.' };
    },
  });
  const chat = await start('chat.ts', script);
  chat.child.stdin.write('Write a.txt\n');
  await expect.poll(chat.output, SOON).toContain('until test -e go');
  chat.child.stdin.end('Rather in capitals\n');
  await expect.poll(chat.output, SOON).toContain('(noted)');
  writeFileSync(join(folder, 'go'), '');
  expect(await chat.ended).toBe(0);
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('hi\n');
  expect(chat.output()).toContain('One moment.');
  expect(chat.output()).toContain('Written.');
  expect(chat.output()).not.toContain('\u001b]0;');
  expect(chat.output()).toMatch(/\[completed, \$0\.\d+\]/);
  expect(seen).toContain('steered before call 2');
});

test('the chat is sixty lines of code', () => {
  const lines = readFileSync(join(import.meta.dirname, 'chat.ts'), 'utf8')
    .trim()
    .split('\n');
  expect(lines.length).toBeLessThanOrEqual(60);
});

test('the reviewer looks, changes nothing, and says what it found', async () => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  git('init', '-q');
  writeFileSync(join(folder, 'sum.js'), 'export const sum = (a, b) => a + b;\n');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'sum');
  writeFileSync(join(folder, 'sum.js'), 'export const sum = (a, b) => a - b;\n');

  const results: string[] = [];
  const finding = { file: 'sum.js', line: 1, severity: 'blocker', message: 'It subtracts.' };
  const script = defineScript({
    name: 'review',
    play({ step, text }) {
      if (text.includes('a - b')) results.push('saw the diff');
      if (text.includes('only git diff, log')) results.push('was refused');
      if (step === 0) return { calls: [{ tool: 'shell', command: 'git diff' }] };
      if (step === 1) return { calls: [{ tool: 'shell', command: 'git diff; touch owned' }] };
      if (step === 2) return { calls: [{ tool: 'write', path: 'sum.js', content: '' }] };
      return { text: JSON.stringify({ findings: [finding] }) };
    },
  });
  const review = await start('review.ts', script, { args: ['.'], keys: /^ANTHROPIC_/ });
  expect(await review.ended).toBe(1);
  expect(review.output()).toContain('sum.js:1 blocker: It subtracts.\n1 findings');
  expect(results).toEqual(expect.arrayContaining(['saw the diff', 'was refused']));
  expect(existsSync(join(folder, 'owned'))).toBe(false);
  expect(readFileSync(join(folder, 'sum.js'), 'utf8')).toContain('a - b');
});

test.each(['chat.ts', 'review.ts'])('%s says what is missing where no key is set', async (example) => {
  const script = defineScript({ name: 'none', play: () => ({ text: '' }) });
  const run = await start(example, script, { keys: /^NONE$/ });
  expect(await run.ended).toBe(1);
  expect(run.output()).toMatch(/Set OPENAI_API_KEY/);
});
