import { type Dirent, readdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { briefFolder } from '@whetstone/sandbox/files';
import { shellWord } from './shell-word.ts';

/** Names to choose from for the folder of the cases. They say nothing about what runs there. */
const NAMES = ['w', 'w1', 'w2'];

/**
 * A script for a new mount namespace. It makes a small root that cannot be written, with everything that the root of the
 * machine has and one empty folder, named in WHETSTONE_PRIVATE_FOLDER; then it starts its arguments. Whatever fails, it
 * starts them in the root as it is.
 */
export function privateRootScript(): string {
  const entries = readdirSync('/', { withFileTypes: true });
  const name = NAMES.find((candidate) => entries.every((entry) => entry.name !== candidate));
  const start = `exec "$@"`;
  if (name === undefined) return start;
  const folders = entries.filter((entry) => entry.isDirectory()).map(quoted);
  const files = entries.filter((entry) => entry.isFile()).map(quoted);
  const links = entries.filter((entry) => entry.isSymbolicLink());
  const steps = [
    'mount -n -t tmpfs -o mode=0755,size=1m tmpfs "$root"',
    'cd "$root"',
    `mkdir .old ${name} ${folders.join(' ')}`,
    ...(files.length > 0 ? [`touch -- ${files.join(' ')}`] : []),
    ...links.map((entry) => `ln -s -- ${shellWord(readlinkSync(`/${entry.name}`))} ${quoted(entry)}`),
    ...folders.map((folder) => `mount -n --rbind /${folder} ./${folder}`),
    ...files.map((file) => `mount -n --bind /${file} ./${file}`),
    'pivot_root . .old',
  ];
  // In the new root nothing may fail: a half-made root must not be used.
  return `
here=$PWD
root=$(mktemp -d ${shellWord(`${tmpdir()}/${briefFolder()}XXXXXX`)}) && {
  { ${steps.join(' && ')}; } >/dev/null 2>&1 && {
    umount -n -l /.old && rmdir /.old && mount -n -o remount,ro / && export WHETSTONE_PRIVATE_FOLDER=/${name}
  } >/dev/null 2>&1
  cd "$here"
  umount -n -l "$root" 2>/dev/null
  rmdir "$root" 2>/dev/null
}
${start}
`;
}

const quoted = (entry: Dirent): string => shellWord(entry.name);
