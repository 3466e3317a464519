/**
 * Adds the platform packages that the registry in use lacks to package-lock.json. npm omits them from the lock file, and
 * then `npm ci` refuses the file. Run it after `npm install`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Entry = {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
};

const file = join(import.meta.dirname, '../package-lock.json');
const lock: { packages: Record<string, Entry> } = JSON.parse(readFileSync(file, 'utf8'));

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS: [RegExp, string][] = [
  [/arm64|aarch64/, 'arm64'],
  [/x64|x86_64/, 'x64'],
  [/ia32|i686/, 'ia32'],
  [/armv?\d*|arm-/, 'arm'],
  [/ppc64/, 'ppc64'],
  [/riscv64/, 'riscv64'],
  [/s390x/, 's390x'],
  [/loong64/, 'loong64'],
  [/mips64el/, 'mips64el'],
  [/wasm32/, 'wasm32'],
];

let added = 0;
for (const [path, parent] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(parent.optionalDependencies ?? {})) {
    if (lock.packages[`${path}/node_modules/${name}`] || lock.packages[`node_modules/${name}`]) continue;
    const os = SYSTEMS.filter((system) => name.includes(system));
    const cpu = PROCESSORS.filter(([pattern]) => pattern.test(name)).map(([, processor]) => processor);
    if (os.length === 0)
      throw new Error(`${name} is missing from the lock file, and not because of its platform`);
    lock.packages[`node_modules/${name}`] = {
      version: range.replace(/^[\^~]/, ''),
      ...(cpu.length > 0 ? { cpu: cpu.slice(0, 1) } : {}),
      ...(parent.dev ? { dev: true } : {}),
      ...(/musl/.test(name) ? { libc: ['musl'] } : /gnu/.test(name) ? { libc: ['glibc'] } : {}),
      optional: true,
      os,
    };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} platform packages added to package-lock.json`);
