import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const LOOPBACK_ONLY = 'ip link set lo up && exec "$@"';

/**
 * What to put before a command so that it only reaches this machine's loopback addresses, which are its own then.
 * `undefined` where this machine cannot do that: it needs `unshare`, `ip`, and root or user namespaces.
 */
export async function withoutNetwork(): Promise<string[] | undefined> {
  const user = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const prefix = ['unshare', ...user, '--net', 'sh', '-c', LOOPBACK_ONLY, 'sh'];
  const [program = '', ...args] = prefix;
  try {
    await promisify(execFile)(program, [...args, 'true']);
    return prefix;
  } catch {
    return undefined;
  }
}
