import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { homedir, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { briefFolder } from '../files/brief-folder.ts';
import { giveTree } from '../files/inherit-owner.ts';
import { removeTree } from '../files/remove-tree.ts';
import type { Limits } from '../process/resource-group.ts';
import type { SandboxProvider } from '../sandbox.ts';
import { ATTACKS, type AttackName, attacks, type Finding } from './attacks.ts';

const TIME_LIMIT_MS = 20_000;
/** Small limits, so that a bomb is small. What is tried is somewhat more. */
const SMALL = { memoryBytes: 64e6, processes: 32 };

/**
 * Attacks this machine from a sandbox of the provider, as a hostile agent would. `scratch`: the provider's folder. `kept`:
 * existing files and folders that no command may read.
 * @throws WhetstoneError `sandbox-unavailable` if the attacks could not be tried
 */
export async function probeSandbox(
  provider: SandboxProvider,
  { scratch, kept }: { scratch: string; kept: readonly string[] },
): Promise<Finding[]> {
  const { processes, limits: claimed, container } = await provider.describe();
  const hasKernel = Boolean(container?.runtime) && (await hasOwnKernel(provider, scratch));
  // What nothing limits is in the manifest, and is not tried.
  const limits = hasKernel ? {} : claimed;
  const own = mkdtempSync(join(scratch, 'p-'));
  const other = mkdtempSync(join(scratch, 'p-'));
  const elsewhere = mkdtempSync(join(tmpdir(), briefFolder()));
  const [workdir, secret, outside] = [join(own, 'repo'), join(other, 'secret'), join(elsewhere, 'written')];
  mkdirSync(workdir);
  writeFileSync(secret, 'of another case\n');
  await giveTree(own, provider.owner);
  const abstract = other.slice(-40);
  const arrived = new Set<AttackName>();
  const tcp = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  // Only Linux has abstract sockets.
  const local = isLinux ? createServer((socket) => socket.destroy()).listen(`\0${abstract}`) : undefined;
  const udp = createSocket('udp4', () => arrived.add('udp')).bind(0, '127.0.0.1');
  try {
    const servers = [tcp, udp, ...(local ? [local] : [])];
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const ports = [tcp, udp].map((server) => String((server.address() as AddressInfo).port));
    // Elsewhere it would be that of this machine.
    const isOwnProc = processes === 'pid-namespace';
    const bombs = [limits.processes && 2 * SMALL.processes, limits.memoryBytes && 2 * SMALL.memoryBytes];
    const whom = [isOwnProc ? '1' : '', String(process.pid), startedAt()];
    const targets = [
      ...bombs.map((bomb) => String(bomb ?? 0)),
      ...whom,
      ...ports,
      abstract,
      outside,
      secret,
      String(kept.length),
      ...kept,
      ...ownFiles(),
    ];
    await using sandbox = await provider.start({ workdir, env: {}, limits: enforcedOf(limits) });
    const tried = await sandbox.runCommand('perl', ['-e', ATTACKS, ...targets], { timeoutMs: TIME_LIMIT_MS });
    if (!tried.stdout.endsWith('done\n')) {
      const message = `The sandbox \`${provider.name}\` could not be tried: ${tried.stderr.trim()}`;
      throw new WhetstoneError('sandbox-unavailable', message);
    }
    for (const name of tried.stdout.split('\n')) if (name in attacks) arrived.add(name as AttackName);
    if (existsSync(outside)) arrived.add('write-outside');
  } finally {
    for (const server of [tcp, local, udp]) server?.close();
    await Promise.all([own, other, elsewhere].map(removeTree));
  }
  const untried = new Set<AttackName>([
    ...(isLinux ? [] : (['abstract-sockets'] as const)),
    ...(hasKernel ? (['namespaces'] as const) : []),
    ...(limits.processes === undefined ? (['process-bomb'] as const) : []),
    ...(limits.memoryBytes === undefined ? (['memory-bomb'] as const) : []),
  ]);
  const tried = (Object.keys(attacks) as AttackName[]).filter((attack) => !untried.has(attack));
  return tried.map((attack) => ({ attack, reached: arrived.has(attack) }));
}

/**
 * Whether a runtime of containers, such as gVisor, says that it has a kernel of its own. Its namespaces are not those of this machine, and
 * a bomb within small limits ends that kernel with the whole container, or finds it unable to start.
 */
async function hasOwnKernel(provider: SandboxProvider, scratch: string): Promise<boolean> {
  const workdir = mkdtempSync(join(scratch, 'p-'));
  try {
    await using sandbox = await provider.start({ workdir, env: {} });
    const command = 'cat /proc/sys/kernel/osrelease';
    const { stdout } = await sandbox.runShell(command, { timeoutMs: TIME_LIMIT_MS });
    return !['', release()].includes(stdout.trim());
  } finally {
    await removeTree(workdir);
  }
}

/** Of the small limits, those that the provider has. */
const enforcedOf = ({ memoryBytes, processes }: Limits): Limits => ({
  ...(memoryBytes !== undefined && { memoryBytes: SMALL.memoryBytes }),
  ...(processes !== undefined && { processes: SMALL.processes }),
});

/** Of the home, what no toolchain is: files, and folders of credentials. At most 50. */
function ownFiles(): string[] {
  const home = homedir();
  try {
    const entries = readdirSync(home, { withFileTypes: true });
    const wanted = entries.filter((entry) => entry.isFile() || CREDENTIALS.has(entry.name));
    return wanted.slice(0, 50).map(({ name }) => join(home, name));
  } catch {
    return [];
  }
}

const isLinux = process.platform === 'linux';

const CREDENTIALS = new Set(['.aws', '.azure', '.config', '.docker', '.gnupg', '.kube', '.ssh']);

/**
 * When this process started, in clock ticks since the machine did: nobody else with its number has the same. Empty where the
 * system does not say it in a file.
 */
function startedAt(): string {
  if (!isLinux) return '';
  const [, fields = ''] = /\) (.*)$/s.exec(readFileSync('/proc/self/stat', 'latin1')) ?? [];
  return fields.split(' ')[19] ?? '';
}
