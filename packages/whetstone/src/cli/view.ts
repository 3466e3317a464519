import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { present } from '@whetstone/events/present';
import { serveRuns } from '../view/server.ts';
import { findConfig } from './find-config.ts';
import { onEndSignal } from './interrupt.ts';
import { openBrowser } from './open-browser.ts';
import { locateRun, outputDirectoryOf } from './report.ts';
import type { Streams } from './streams.ts';

export type ViewOptions = {
  config?: string;
  /** Default: a free one. */
  port?: number;
  open?: boolean;
  json?: boolean;
};

/**
 * Serves the web page over the run directories until SIGINT, SIGTERM or SIGHUP, which is the usual end: exit code 0. The
 * page opens at `reference`: a run directory, a run id, or "latest".
 */
export async function viewCommand(
  reference: string | undefined,
  options: ViewOptions,
  { stdout, stderr }: Streams,
): Promise<number> {
  const run =
    reference === undefined ? undefined : await realpath(await locateRun(reference, options.config));
  const outputDirectory = run === undefined ? await outputDirectoryOf(options.config) : dirname(run);
  const fragment = run === undefined ? '' : `#/runs/${encodeURIComponent(basename(run))}`;

  const end = Promise.withResolvers<void>();
  using _ = onEndSignal(end.resolve);
  const config = configOf(options.config);
  const first = run === undefined ? undefined : basename(run);
  await using server = await serveRuns({
    outputDirectory,
    ...present({ port: options.port, config, first }),
  });
  const url = server.url + fragment;
  stdout.write(
    options.json
      ? `${JSON.stringify({ url, output_dir: outputDirectory })}\n`
      : `Runs below ${outputDirectory}:\n${url}\nCtrl-C ends it.\n`,
  );
  if (options.open) void openBrowser(server.createOneTimeUrl() + fragment, stderr);
  await end.promise;
  return 0;
}

/** The configuration that the page edits and runs; `undefined`: there is none here. */
function configOf(named: string | undefined): string | undefined {
  try {
    return findConfig(named).file;
  } catch {
    return undefined;
  }
}
