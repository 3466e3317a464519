import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The hash function of a repository, for commit ids and blob ids. */
export type ObjectFormat = 'sha1' | 'sha256';

export function formatOf(oid: string): ObjectFormat {
  return oid.length === 64 ? 'sha256' : 'sha1';
}

/** Overrides every `.gitattributes`, so that nothing is converted. `-` switches off; `!` makes unspecified. */
const RAW_CONTENT = '* -text !eol !crlf -ident -filter !working-tree-encoding !diff !merge !whitespace\n';

/** Writes a git directory without any template, hook or configuration of the user. It also reads from `alternates`. */
export async function makeGitDirectory(
  directory: string,
  options: { format: ObjectFormat; alternates?: string[]; head?: string; config?: string },
): Promise<void> {
  await Promise.all(
    ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'].map((folder) =>
      mkdir(join(directory, folder), { recursive: true }),
    ),
  );
  const format =
    options.format === 'sha256'
      ? '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'
      : '[core]\n\trepositoryformatversion = 0\n';
  await Promise.all([
    writeFile(join(directory, 'HEAD'), `${options.head ?? 'ref: refs/heads/main'}\n`),
    writeFile(join(directory, 'config'), `${format}${options.config ?? ''}`),
    writeFile(join(directory, 'info/attributes'), RAW_CONTENT),
    options.alternates &&
      writeFile(join(directory, 'objects/info/alternates'), options.alternates.map(alternateLine).join('')),
  ]);
}

/** Git unquotes a line that starts with a double quote; only then may a path hold a newline or start with `#`. */
function alternateLine(path: string): string {
  const plain = !/^["#]|\n/.test(path);
  return plain ? `${path}\n` : `${quotePath(Buffer.from(path).toString('latin1'))}\n`;
}

/** A byte string in C-style quotes, as git writes them: printable ASCII unchanged, everything else octal. */
export function quotePath(bytes: string): string {
  const quoted = bytes.replace(/[^ !#-[\]-~]/g, (byte) => {
    return `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `"${quoted}"`;
}
