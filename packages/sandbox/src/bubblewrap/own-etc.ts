import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Owner, RootEntry } from '../process/launcher-interface.ts';

/** What programs need of `/etc` and what says nothing about this machine's users and networks. */
const SHARED = [
  ...['alternatives', 'ca-certificates', 'ca-certificates.conf', 'debian_version', 'fonts', 'java'],
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'magic', 'mime.types', 'os-release', 'pki'],
  ...['profile', 'protocols', 'services', 'shells', 'ssl', 'terminfo', 'timezone'],
];

/** How names are found: of this machine only for commands that have its network. */
const NETWORK = ['hosts', 'nsswitch.conf', 'resolv.conf'];

/** Writes the files of an `/etc` that knows one user into `folder`, and lists what is seen there. */
export function makeEtc(folder: string, { uid, gid }: Owner): Record<'sealed' | 'open', RootEntry[]> {
  mkdirSync(folder, { mode: 0o755 });
  const files: Record<string, string> = {
    passwd: `root:x:0:0:root:/:/bin/sh\nuser:x:${uid}:${gid}::/:/bin/sh\n`,
    group: `root:x:0:\nuser:x:${gid}:\n`,
    // Only one name for ::1: a server that listens at `localhost` must be found at 127.0.0.1.
    hosts: '127.0.0.1 localhost sandbox\n::1 ip6-localhost ip6-loopback\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    // The resolver of the door answers at once that there is no such name.
    'resolv.conf': 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o644 });
  const see = (name: string, source: string): RootEntry => ({ kind: 'see', path: `/etc/${name}`, source });
  const shared = SHARED.map((name) => join('/etc', name)).filter((path) => existsSync(path));
  const always = [
    ...shared.map((source) => see(source.slice('/etc/'.length), source)),
    ...['passwd', 'group'].map((name) => see(name, join(folder, name))),
  ];
  return {
    sealed: [...always, ...NETWORK.map((name) => see(name, join(folder, name)))],
    open: [
      ...always,
      ...NETWORK.map((name) => see(name, join('/etc', name))).filter(({ path }) => existsSync(path)),
    ],
  };
}
