import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { present } from '@whetstone/events/present';
import { execa } from 'execa';
import { serveRuns } from '../view/server.ts';
import { locateRun, outputDirectoryOf } from './report.ts';

export type ViewOptions = {
  config?: string;
  /** Default: a free one. */
  port?: number;
  /** Starts the system's browser. */
  open?: boolean;
  /** A run directory, a run id, or "latest": the page opens there. */
  run?: string;
};

/**
 * Serves the web page over the run directories until SIGINT, SIGTERM or SIGHUP. Leaving it is how it ends, so the exit
 * code is 0 then.
 */
export async function viewCommand(
  options: ViewOptions,
  { stdout, stderr }: { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream },
): Promise<number> {
  const run =
    options.run === undefined ? undefined : await realpath(await locateRun(options.run, options.config));
  const outputDirectory = run === undefined ? await outputDirectoryOf(options.config) : dirname(run);
  const fragment = run === undefined ? '' : `#/runs/${encodeURIComponent(basename(run))}`;

  const ended = endSignal();
  await using server = await serveRuns({
    outputDirectory,
    ...present({ port: options.port }),
  });
  stdout.write(`Runs below ${outputDirectory}:\n${server.url}${fragment}\nCtrl-C ends it.\n`);
  if (options.open) void openBrowser(server.createOneTimeUrl() + fragment, stderr);
  await ended;
  return 0;
}

async function endSignal(): Promise<void> {
  const listening = new AbortController();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  await Promise.race(
    signals.map((name) => once(process, name, { signal: listening.signal }).catch(() => undefined)),
  );
  listening.abort();
}

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

async function openBrowser(url: string, stderr: NodeJS.WritableStream): Promise<void> {
  const [command = 'xdg-open', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const browser = execa(command, [...args, url], {
    stdio: 'ignore',
    detached: true, // Ctrl-C here is not meant for the browser
    cleanup: false,
    reject: false,
  });
  browser.nodeChildProcess.unref();
  if ((await browser).failed) stderr.write(`${command} could not open a browser: open the address above.\n`);
}
