import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Owner } from '../process/launcher-interface.ts';

/** What programs need of `/etc` and what says nothing about this machine's users and networks. */
const SHARED = [
  ...['alternatives', 'ca-certificates', 'ca-certificates.conf', 'debian_version', 'fonts', 'java'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'magic', 'mime.types', 'os-release', 'pki'],
  ...['profile', 'protocols', 'services', 'shells', 'ssl', 'terminfo', 'timezone'],
];

/** How names are found: of this machine only for commands that have its network. */
export const NETWORK = ['hosts', 'nsswitch.conf', 'resolv.conf'];

/** A file or folder of this machine at a path. */
export type Shown = { kind: 'see'; path: string; source: string };

/**
 * Fills `folder` as an `/etc` that knows one user, and lists what is seen of it. Files are copied there, because each mount
 * makes every start slower. `network`: what is seen in it by commands that have the network of this machine.
 */
export function makeEtc(folder: string, owner: Owner): Record<'etc' | 'network', Shown[]> {
  mkdirSync(folder);
  writeOwnFiles(folder, owner);
  const found = SHARED.filter((name) => existsSync(join('/etc', name)));
  const folders = found.filter((name) => statSync(join('/etc', name)).isDirectory());
  for (const name of found) {
    if (folders.includes(name)) mkdirSync(join(folder, name));
    else copyFileSync(join('/etc', name), join(folder, name));
  }
  letEverybodyRead(folder);
  const ofThisMachine = (name: string): Shown => ({
    kind: 'see',
    path: join('/etc', name),
    source: join('/etc', name),
  });
  return {
    etc: [{ kind: 'see', path: '/etc', source: folder }, ...folders.map(ofThisMachine)],
    network: NETWORK.map(ofThisMachine).filter(({ source }) => existsSync(source)),
  };
}

/** Writes the files of an `/etc` that knows one user and no other machine. Returns their names. */
export function writeOwnFiles(folder: string, { uid, gid }: Owner): string[] {
  const files: Record<string, string> = {
    passwd: `root:x:0:0:root:/:/bin/sh\nuser:x:${uid}:${gid}::/:/bin/sh\n`,
    group: `root:x:0:\nuser:x:${gid}:\n`,
    // Only one name for ::1: a server that listens at `localhost` must be found at 127.0.0.1.
    hosts: '127.0.0.1 localhost sandbox\n::1 ip6-localhost ip6-loopback\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    // The resolver of the door answers at once that there is no such name.
    'resolv.conf': 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  letEverybodyRead(folder);
  return Object.keys(files);
}

/** Sets the rights afterwards: a umask such as 077 would take them away, and a sandbox runs as another user. */
function letEverybodyRead(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    chmodSync(join(folder, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
}
