import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The hash function of a repository, for commit ids and blob ids. */
export type ObjectFormat = 'sha1' | 'sha256';

export function formatOf(oid: string): ObjectFormat {
  return oid.length === 64 ? 'sha256' : 'sha1';
}

/** Overrides every `.gitattributes`, so that nothing is converted. `-` switches off; `!` makes unspecified. */
const RAW_CONTENT = '* -text !eol !crlf -ident -filter !working-tree-encoding !diff !merge !whitespace\n';

/** Writes a git directory without any template, hook or configuration of the user. It also reads from `alternates`. */
export function makeGitDirectory(
  directory: string,
  options: { format: ObjectFormat; alternates?: string[]; head?: string; config?: string },
): void {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    mkdirSync(join(directory, folder), { recursive: true });
  }
  const format =
    options.format === 'sha256'
      ? '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'
      : '[core]\n\trepositoryformatversion = 0\n';
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text);
  write('HEAD', `${options.head ?? 'ref: refs/heads/main'}\n`);
  write('config', `${format}${options.config ?? ''}`);
  write('info/attributes', RAW_CONTENT);
  if (options.alternates) write('objects/info/alternates', options.alternates.map(alternateLine).join(''));
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
