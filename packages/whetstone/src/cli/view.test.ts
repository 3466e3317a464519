import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manifestOf } from '../record/__fixtures__/records.ts';
import { createRunRecord } from '../record/run-record.ts';
import { type ViewOptions, viewCommand } from './view.ts';

let folder: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'view-cli-')));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Starts the command in its own process, in `folder`; resolves with the URL that it prints. */
async function start(
  { run, ...options }: ViewOptions & { run?: string },
  env: NodeJS.ProcessEnv = {},
): Promise<{ child: ChildProcess; url: string }> {
  const script = `
    import { viewCommand } from ${JSON.stringify(new URL('./view.ts', import.meta.url).href)};
    process.exitCode = await viewCommand(${JSON.stringify(run)}, ${JSON.stringify(options)}, process);
  `;
  const started = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  for await (const line of createInterface({ input: started.stdout })) {
    if (line.startsWith('http:')) return { child: started, url: line };
  }
  throw new Error('No URL was printed.');
}

async function writeRun(id: string): Promise<void> {
  await using _ = await createRunRecord(join(folder, '.whetstone', 'runs'), {
    ...manifestOf(['a']),
    run_id: id,
  });
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  'prints the URL of the page and serves until %s, then exits with 0',
  async (signal) => {
    const { child, url } = await start({});
    const first = await fetch(url, { redirect: 'manual' });
    expect(first.status).toBe(303);
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(await (await fetch(new URL('/', url), { headers: { cookie } })).text()).toContain(
      '<title>Whetstone</title>',
    );
    const exited = once(child, 'exit');
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
  },
);

test('opens at a run', async () => {
  await writeRun('20260101-old');
  await writeRun('20260102-new');
  const { url } = await start({ run: 'latest' });
  expect(new URL(url).hash).toBe('#/runs/20260102-new');
});

test('a run that does not exist is a usage error', async () => {
  await expect(viewCommand(join(folder, 'nothing'), {}, process)).rejects.toMatchObject({
    code: 'run-not-found',
    exitCode: 2,
  });
});

test('a browser that cannot be opened is reported without the key to the page, and the page is served', async () => {
  const { child, url } = await start({ open: true }, { PATH: folder });
  const [printed] = await once(child.stderr ?? process.stdin, 'data');
  expect(String(printed)).toContain('could not open a browser');
  expect(String(printed)).not.toContain('token');
  expect((await fetch(url, { redirect: 'manual' })).status).toBe(303);
});
