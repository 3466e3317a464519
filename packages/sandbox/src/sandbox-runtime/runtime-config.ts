import { homedir } from 'node:os';
import type { SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime';

/** What every command of a Mac or a Linux machine reads: programs, libraries, time zones, certificates and devices. */
const SYSTEM = {
  darwin: [
    ...['/bin', '/sbin', '/usr', '/System', '/dev', '/opt/homebrew', '/opt/local', '/nix/store'],
    ...['/Library/Apple', '/Library/Developer', '/Library/Frameworks', '/Library/Java', '/Library/Perl'],
    ...['/Applications/Xcode.app', '/private/var/db/dyld', '/private/var/db/timezone', '/private/var/select'],
    ...[
      '/private/var/db/xcode_select_link',
      '/private/etc/ssl',
      '/private/etc/localtime',
      '/private/etc/paths',
    ],
    ...['hosts', 'passwd', 'group', 'services', 'protocols', 'shells', 'resolv.conf', 'gitconfig'].map(
      (name) => `/private/etc/${name}`,
    ),
  ],
  linux: [
    ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'],
    ...[
      'ssl',
      'alternatives',
      'ca-certificates',
      'pki',
      'localtime',
      'ld.so.cache',
      'nsswitch.conf',
      'hosts',
    ].map((name) => `/etc/${name}`),
    ...['passwd', 'group', 'services', 'protocols', 'profile'].map((name) => `/etc/${name}`),
  ],
};

/** What the library lets commands write if nothing is said, beside the folders of the sandbox. */
const WRITABLE_UNASKED = [
  '/tmp/claude',
  '/private/tmp/claude',
  ...['.npm/_logs', '.claude/debug'].map((path) => `${homedir()}/${path}`),
];

export type RuntimePlatform = keyof typeof SYSTEM;

/** No program listens there. */
const NOBODYS_PORT = 1;

/**
 * The settings of the library with which a command is made, but for its files. `gatewayPort` and `proxyPort`: ports of 127.0.0.1 to which it can connect. The
 * library has two, which it calls those of proxies; with both it starts no proxy of its own.
 */
export const networkConfig = ({
  gatewayPort = NOBODYS_PORT,
  proxyPort = gatewayPort,
}: {
  gatewayPort?: number | undefined;
  proxyPort?: number | undefined;
}): SandboxRuntimeConfig => ({
  network: {
    allowedDomains: [],
    deniedDomains: [],
    strictAllowlist: true,
    allowLocalBinding: false,
    httpProxyPort: gatewayPort,
    socksProxyPort: proxyPort,
  },
  filesystem: { denyRead: ['/'], allowRead: [], allowWrite: [], denyWrite: [] },
});

/** `readable`: what of this machine commands see beside the system's programs, by absolute paths. */
export type Visible = { platform: RuntimePlatform; readable: readonly string[] };

/** What a command may read and write. `folders`: its own. `lent`: what only it reads. */
export function filesOf({
  platform,
  readable,
  folders,
  lent = [],
}: Visible & { folders: readonly string[]; lent?: readonly string[] }): SandboxRuntimeConfig['filesystem'] {
  const literal = (path: string) => ({ path, literal: true as const });
  return {
    denyRead: [literal('/')],
    allowRead: [...new Set([...SYSTEM[platform], ...readable, ...folders, ...lent])].map(literal),
    allowWrite: [...folders].map(literal),
    denyWrite: WRITABLE_UNASKED.map(literal),
  };
}
