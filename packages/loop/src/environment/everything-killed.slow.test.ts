import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'vitest';
import { calls, toolCall } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { markProcesses } from './__fixtures__/marked-processes.ts';
import { LocalExecutionEnvironment } from './local-environment.ts';

/** A way to leave processes behind, and how many programs run then; shells in between may or may not stay. */
type Kind = { name: string; command: string; programs: number };
const kinds: readonly Kind[] = [
  { name: 'background jobs', command: 'sleep 300 & sleep 301 &', programs: 2 },
  {
    name: 'setsid, with a daemon that is deaf to TERM',
    command: `setsid sleep 300 & setsid bash -c "trap '' TERM; (setsid sleep 301 &)"`,
    programs: 2,
  },
  { name: 'a pipeline', command: 'sleep 300 | cat | tail -n 1 &', programs: 3 },
  {
    name: 'grandchildren that hold the pipes',
    command: "bash -c '(sleep 300; echo late) & (sleep 301; echo late >&2) &'",
    programs: 2,
  },
];
/** The command of a kind, and after it one more program that keeps it from returning. */
const held = ({ command }: Kind) => `${command}\nsleep 302`;

describe.runIf(process.platform === 'linux').each(kinds)(
  'nothing is left of $name',
  { concurrent: true, tags: 'linux' },
  (kind) => {
    test('after a timeout', async ({ expect }) => {
      await using mark = markProcesses();
      await using place = await temporaryEnvironment();
      const command = place.environment.exec(held(kind), { timeoutMs: 10_000, env: mark.env });
      await mark.running(kind.programs + 1);
      expect(await command).toMatchObject({ timedOut: true });
      expect(await mark.left()).toEqual(new Map());
    });

    test('after an abort', async ({ expect }) => {
      await using mark = markProcesses();
      await using place = await temporaryEnvironment();
      const controller = new AbortController();
      const { signal } = controller;
      const command = place.environment.exec(held(kind), { signal, env: mark.env });
      await mark.running(kind.programs + 1);
      controller.abort();
      expect(await command).toMatchObject({ aborted: true });
      expect(await mark.left()).toEqual(new Map());
    });

    test('after the close of the session that owns the environment', async ({ expect }) => {
      await using mark = markProcesses();
      const environment = new LocalExecutionEnvironment({ env: mark.env });
      const leftBehind = toolCall('shell', { command: kind.command });
      const stillRunning = toolCall('shell', { command: held(kind), timeout_ms: 60_000 });
      const options = { environment, ownsEnvironment: true };
      await using run = await startSession([calls(leftBehind, stillRunning)], options);
      const submitted = run.session.submit('go');
      await mark.running(2 * kind.programs + 1);
      await run.session.close();
      expect(await mark.left()).toEqual(new Map());
      expect(await submitted).toMatchObject({ reason: 'aborted' });
    });

    test('after the exit of the host process, however it comes', async () => {
      await Promise.all(hostEnds.map((end) => endHost(kind, end)));
    });
  },
);

/** What ends a host: its own code, which the first line on its standard input lets run, or a signal. */
const hostEnds = ['process.exit()', 'throw new Error()', 'SIGTERM', 'SIGINT', 'SIGKILL'] as const;

/** A host that runs the command twice, once to its end and once held, and is then ended without a `cleanup()`. */
async function endHost(kind: Kind, end: (typeof hostEnds)[number]): Promise<void> {
  await using mark = markProcesses();
  const module = new URL('./local-environment.ts', import.meta.url).href;
  const script = `
    import { LocalExecutionEnvironment } from '${module}';
    const environment = new LocalExecutionEnvironment({ env: ${JSON.stringify(mark.env)} });
    await environment.exec(${JSON.stringify(kind.command)});
    void environment.exec(${JSON.stringify(held(kind))});
    process.stdin.once('data', () => { ${end.startsWith('SIG') ? '' : end} });`;
  const host = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const exited = once(host, 'exit');
  try {
    await mark.running(2 * kind.programs + 1);
    if (end === 'SIGTERM' || end === 'SIGINT' || end === 'SIGKILL') host.kill(end);
    else host.stdin.write('now\n');
    await exited;
    await mark.gone();
  } finally {
    host.kill('SIGKILL');
  }
}

test.runIf(process.platform === 'linux')(
  'the watcher holds up no host, and goes with the last environment',
  { tags: 'linux' },
  async ({ expect }) => {
    await using mark = markProcesses();
    const module = new URL('./local-environment.ts', import.meta.url).href;
    const script = `
    import { LocalExecutionEnvironment } from '${module}';
    import { readFileSync } from 'node:fs';
    const [first, second] = [new LocalExecutionEnvironment(), new LocalExecutionEnvironment()];
    const children = () => (readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8')).split(' ').length - 1;
    const counts = [];
    await first.exec('true');
    await second.exec('true');
    counts.push(children());
    await first.cleanup();
    counts.push(children());
    await second.cleanup();
    while (children() > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await second.exec('true');
    counts.push(children());
    console.log(counts.join(' '));`;
    const host = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, ...mark.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    host.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const [exitCode] = await once(host, 'close');
    expect([exitCode, output]).toEqual([0, '1 1 1\n']);
    await mark.gone();
  },
);
