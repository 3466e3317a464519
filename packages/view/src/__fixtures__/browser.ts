import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Where Chromium is, if it is. */
export const chromiumPath: string | undefined = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);

/** A real browser with one tab, driven over the Chrome DevTools Protocol. */
export interface Browser extends AsyncDisposable {
  goto(url: string): Promise<void>;
  /** Leaves the page, so that nothing of it goes on. */
  leave(): Promise<void>;
  /** The value of an expression in the tab; it must survive JSON. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Waits until an expression is true in the tab. */
  until(expression: string): Promise<void>;
  /** A key by its name: a character, `Enter`, `Tab` or `Escape`. */
  press(key: string): Promise<void>;
  resize(width: number, height: number): Promise<void>;
  /** Also asks for no transitions, in which a picture would be neither of both. */
  prefer(scheme: 'light' | 'dark'): Promise<void>;
  /** What the tab shows, as a PNG. */
  picture(): Promise<Buffer>;
  /** Exceptions, failed requests and violations of the Content-Security-Policy since the last time. */
  takeProblems(): string[];
}

const DEADLINE_MS = 40_000;

export async function openBrowser(path: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'browser-'));
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
  ];
  const child = spawn(path, [...flags, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const stop = async () => {
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    if (child.pid !== undefined) {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // it has gone by itself
      }
    }
    await exited;
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const tab = await openTab(await devtoolsUrl(child));
    return { ...tab, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function devtoolsUrl(child: ChildProcess): Promise<string> {
  if (child.stderr === null) throw new Error('The browser has no stderr.');
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /DevTools listening on (?<url>ws:.*)/.exec(line)?.groups?.url;
    if (url !== undefined) {
      child.stderr.resume();
      return url;
    }
  }
  throw new Error('The browser ended before it listened.');
}

type Message = { id?: number; method?: string; params?: Record<string, unknown>; result?: Record<string, unknown>; error?: { message: string } };

async function openTab(url: string): Promise<Omit<Browser, keyof AsyncDisposable>> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const waiting = new Map<number, { resolve(result: Record<string, unknown>): void; reject(error: Error): void }>();
  let problems: string[] = [];
  let last = 0;
  let sessionId: unknown;
  socket.addEventListener('message', ({ data }) => {
    const message: Message = JSON.parse(String(data));
    if (message.id === undefined) {
      const problem = problemOf(message);
      if (problem !== undefined) problems.push(problem);
      return;
    }
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) caller?.reject(new Error(message.error.message));
    else caller?.resolve(message.result ?? {});
  });
  const send = (method: string, params: Record<string, unknown> = {}) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    });

  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  ({ sessionId } = await send('Target.attachToTarget', { targetId, flatten: true }));
  for (const domain of ['Page', 'Runtime', 'Log']) await send(`${domain}.enable`);

  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: Value }).value;
  };
  const until = async (expression: string) => {
    const deadline = Date.now() + DEADLINE_MS;
    while (!(await evaluate<boolean>(`Boolean(${expression})`))) {
      if (Date.now() > deadline) {
        throw new Error(`Never true: ${expression}\n${await evaluate('document.body.innerText')}\n${problems.join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const leave = async () => {
    await send('Page.navigate', { url: 'about:blank' });
    await until("location.href === 'about:blank'");
  };
  return {
    evaluate,
    until,
    leave,
    async goto(target) {
      await leave();
      await send('Page.navigate', { url: target });
      await until("location.href !== 'about:blank' && document.readyState === 'complete'");
    },
    async press(key) {
      const code = { Enter: 13, Tab: 9, Escape: 27 }[key];
      const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
      const event = { key, ...(code === undefined ? {} : { code: key, windowsVirtualKeyCode: code }), ...(text === undefined ? {} : { text }) };
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    async resize(width, height) {
      await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    },
    async prefer(scheme) {
      const features = { 'prefers-color-scheme': scheme, 'prefers-reduced-motion': 'reduce' };
      await send('Emulation.setEmulatedMedia', { features: Object.entries(features).map(([name, value]) => ({ name, value })) });
    },
    async picture() {
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(String(data), 'base64');
    },
    takeProblems() {
      const taken = problems;
      problems = [];
      return taken;
    },
  };
}

function problemOf({ method, params }: Message): string | undefined {
  if (method === 'Runtime.exceptionThrown') return JSON.stringify(params);
  const entry = params?.entry as { level: string; text: string; url?: string } | undefined;
  if (method !== 'Log.entryAdded' || entry?.level !== 'error') return undefined;
  return entry.url?.endsWith('/favicon.ico') ? undefined : `${entry.text} ${entry.url ?? ''}`;
}
