import { serveDocs } from '../view/docs-site.ts';
import { onEndSignal } from './interrupt.ts';
import { openBrowser } from './open-browser.ts';
import type { Streams } from './streams.ts';

export type DocsOptions = { port?: number; open: boolean; json?: boolean };

/**
 * Serves the documentation of this version until SIGINT, SIGTERM or SIGHUP, which is the usual end: exit code 0. Needs no network.
 * @throws WhetstoneError `docs-missing`, `view-port-unavailable`
 */
export async function docsCommand(
  { port, open, json }: DocsOptions,
  { stdout, stderr }: Streams,
): Promise<number> {
  const end = Promise.withResolvers<void>();
  using _ = onEndSignal(end.resolve);
  await using server = await serveDocs(port);
  stdout.write(json ? `${JSON.stringify({ url: server.url })}\n` : `${server.url}\nCtrl-C ends it.\n`);
  if (open && !json) void openBrowser(server.url, stderr);
  await end.promise;
  return 0;
}
