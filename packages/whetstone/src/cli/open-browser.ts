import { spawn } from 'node:child_process';
import { once } from 'node:events';

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an address in the user's browser, or says that it cannot. */
export async function openBrowser(url: string, stderr: NodeJS.WritableStream): Promise<void> {
  const [command = 'xdg-open', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  // Ctrl-C here is not meant for the browser.
  const browser = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  browser.unref();
  const [exitCode] = await once(browser, 'exit').catch(() => [null]);
  if (exitCode !== 0) stderr.write(`${command} could not open a browser: open the address above.\n`);
}
