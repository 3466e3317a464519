import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { PolicyRequest } from '@whetstone/agents';
import { expect, test } from 'vitest';
import { askOnTerminal } from './ask-on-terminal.ts';
import type { Streams } from './streams.ts';

function terminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new PassThrough();
  const streams = { stdin, stderr } as unknown as Streams;
  return { stdin, ask: askOnTerminal(streams), shown: () => String(stderr.read() ?? '') };
}

const command = (text: string) => ({ kind: 'command', callId: 'call-1', command: text }) as const;

test('only yes allows; anything else is left to the policy', async () => {
  const { stdin, ask } = terminal();
  for (const [answer, decision] of [
    ['y', 'approved'],
    ['Yes', 'approved'],
    ['', undefined],
    ['n', undefined],
    ['yellow', undefined],
  ] as const) {
    const answered = ask(command('npm test'));
    setImmediate(() => stdin.write(`${answer}\n`));
    expect((await answered)?.decision).toBe(decision);
  }
});

test.each<[PolicyRequest, string]>([
  [{ kind: 'command', callId: 'a', command: 'npm test' }, 'run npm test'],
  [{ kind: 'file-change', callId: 'a', paths: ['src/a.ts', 'b.ts'] }, 'change src/a.ts, b.ts'],
  [{ kind: 'file-read', callId: 'a', paths: ['/etc/hosts'] }, 'read /etc/hosts'],
  [
    { kind: 'grant', callId: 'a', what: 'network', hosts: ['x.example'], paths: ['/var'] },
    'more: network, x.example, /var',
  ],
  [{ kind: 'tool', callId: 'a', name: 'find', input: { q: 1 } }, 'call find {"q":1}'],
  [{ kind: 'question', callId: 'a', questions: [{ id: 'q', text: 'Which?', options: [] }] }, 'Which?'],
  [{ kind: 'elicitation', callId: 'a', server: 'tickets', message: 'Your name?' }, 'tickets: Your name?'],
  [{ kind: 'plugin', callId: 'a', what: 'install tea' }, 'plugin install tea'],
])('%j is shown as what it allows', async (request, expected) => {
  const { stdin, ask, shown } = terminal();
  const answered = ask(request);
  setImmediate(() => stdin.end());
  await answered;
  expect(shown()).toContain(`The agent asks: ${expected}\n`);
});

test('the end of the input allows nothing', async () => {
  const { stdin, ask } = terminal();
  const answered = ask(command('npm test'));
  stdin.end();
  expect(await answered).toBeUndefined();
});

test('Ctrl-C interrupts the process and allows nothing', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const ask = askOnTerminal({ stdin, stderr } as unknown as Streams);
  const interrupted = once(process, 'SIGINT');
  const answered = ask(command('npm test'));
  setImmediate(() => stdin.write('\u0003'));
  await interrupted;
  expect(await answered).toBeUndefined();
});

test('two questions at once are asked one after the other, without control characters', async () => {
  const { stdin, ask, shown } = terminal();
  const first = ask(command('echo \u001b[2Jone'));
  const second = ask(command('echo two'));
  setImmediate(() => stdin.write('y\n'));
  expect((await first)?.rule).toBe('--interactive');
  const before = shown();
  expect(before).toContain('Allow it once? [y/N]');
  expect(before).not.toContain('[2J'.padStart(4, '\u001b'));
  expect(before).not.toContain('echo two');
  setImmediate(() => stdin.write('n\n'));
  expect(await second).toBeUndefined();
  expect(shown()).toContain('run echo two');
});

test('without a terminal it is an error that says what to write instead', () => {
  const streams = { stdin: new PassThrough(), stderr: new PassThrough() } as unknown as Streams;
  expect(() => askOnTerminal(streams)).toThrow(/needs a terminal/);
});
