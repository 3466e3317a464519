import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { headOf, initRepo, refreshIndex } from './git-folder.ts';

/** A file's content, an executable one's, or a symlink's target. Names and contents may be any bytes (latin1 keys). */
export type TreeSpec = Record<string, string | Buffer | { exec: string | Buffer } | { link: string | Buffer }>;

export function makeTempDir(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'whetstone-test-')));
}

/** Real git with no configuration of this machine. */
export function runGit(cwd: string, args: string[], input?: string | Buffer): string {
  return run(cwd, 'git', args, input);
}

function run(cwd: string, file: string, args: string[], input?: string | Buffer): string {
  return execFileSync(file, args, {
    cwd,
    input,
    encoding: 'latin1',
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
    env: {
      PATH: process.env.PATH,
      HOME: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      // A commit would start another git to look whether there is something to tidy up.
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'maintenance.auto',
      GIT_CONFIG_VALUE_0: 'false',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      LC_ALL: 'C',
    },
  });
}

export function bytesOf(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

export function writeTree(root: string, files: TreeSpec): void {
  for (const [path, entry] of Object.entries(files)) {
    const absolute = bytesOf(join(root, path));
    mkdirSync(bytesOf(dirname(join(root, path))), { recursive: true });
    rmSync(absolute, { force: true });
    if (typeof entry === 'string' || Buffer.isBuffer(entry)) writeFileSync(absolute, entry);
    else if ('link' in entry) symlinkSync(entry.link, absolute);
    else {
      writeFileSync(absolute, entry.exec);
      chmodSync(absolute, 0o755);
    }
  }
}

/** Every file and symlink of a tree without its root `.git`: path (latin1) → mode and content. */
export function readTree(root: string): Record<string, string> {
  const result: Record<string, string> = {};
  const visit = (folder: string) => {
    for (const name of readdirSync(bytesOf(join(root, folder)), { encoding: 'buffer' })) {
      const path = folder === '' ? name.toString('latin1') : `${folder}/${name.toString('latin1')}`;
      if (path === '.git') continue;
      const absolute = bytesOf(`${root}/${path}`);
      const found = lstatSync(absolute);
      if (found.isDirectory()) visit(path);
      else if (found.isSymbolicLink()) result[path] = `link ${readlinkSync(absolute, { encoding: 'buffer' }).toString('latin1')}`;
      else if (found.isFile()) result[path] = `${found.mode & 0o100 ? 'exec' : 'file'} ${readFileSync(absolute).toString('latin1')}`;
    }
  };
  visit('');
  return result;
}

/** The git folders of the repositories that this process has made, by what is in them. */
const made = new Map<string, string>();
process.on('exit', () => {
  for (const folder of made.values()) rmSync(folder, { recursive: true, force: true });
});

/**
 * A repository with one commit of `files` on `main`. Git makes it once for the same files; the others get a copy of its
 * git folder, because to start Git four times is much of what a small test costs.
 */
export function makeRepo(files: TreeSpec, options: { format?: 'sha1' | 'sha256' } = {}): string {
  const { format = 'sha1' } = options;
  const root = makeTempDir();
  const content = hashOf(files, format);
  const known = made.get(content);
  if (known !== undefined) {
    writeTree(root, files);
    cpSync(known, join(root, '.git'), { recursive: true });
    refreshIndex(root, format); // the index knows the files of the first repository
    return root;
  }
  initRepo(root, format);
  commitAll(root, files);
  const copy = makeTempDir();
  cpSync(join(root, '.git'), copy, { recursive: true });
  made.set(content, copy);
  return root;
}

function hashOf(files: TreeSpec, format: string): string {
  const hash = createHash('sha256').update(format);
  for (const [path, entry] of Object.entries(files)) {
    const [kind, bytes] =
      typeof entry === 'string' || Buffer.isBuffer(entry) ? ['file', entry] : 'link' in entry ? ['link', entry.link] : ['exec', entry.exec];
    hash.update(`\0${kind}\0${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

/** In one shell, because what a large process pays for is the start of a program, whatever that is. */
const COMMIT = 'git add -A -f && exec git commit -q --allow-empty -m "$1"';

/** Returns the id of the commit. */
export function commitAll(root: string, files: TreeSpec, message = 'work'): string {
  writeTree(root, files);
  const attributes = join(root, '.git/info/attributes');
  mkdirSync(dirname(attributes), { recursive: true });
  // The bytes as they are, whatever the tree's attributes say.
  writeFileSync(attributes, '* -text -ident !filter !working-tree-encoding\n');
  try {
    run(root, 'sh', ['-c', COMMIT, 'sh', message]);
  } finally {
    rmSync(attributes);
  }
  return headOf(root);
}

/** Everything about a folder that a visitor could have changed: names, modes, contents, modification times. */
export function fingerprint(root: string): string {
  const hash = createHash('sha256');
  const visit = (path: string) => {
    const found = lstatSync(bytesOf(path), { bigint: true });
    hash.update(`${path}\0${found.mode}\0${found.mtimeNs}\0${found.size}\0`);
    if (found.isDirectory()) for (const name of namesIn(path)) visit(`${path}/${name}`);
    else if (found.isFile()) hash.update(readFileSync(bytesOf(path)));
  };
  visit(root);
  return hash.digest('hex');
}

function namesIn(path: string): string[] {
  const names = readdirSync(bytesOf(path), { encoding: 'buffer' });
  return names.map((name) => name.toString('latin1')).sort();
}
