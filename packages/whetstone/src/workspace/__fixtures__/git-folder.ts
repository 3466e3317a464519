import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** New git folders by format. Git makes each once per process; the others are copies, because to start Git takes longer. */
const templates = new Map<string, string>();
process.on('exit', () => {
  for (const folder of templates.values()) rmSync(folder, { recursive: true, force: true });
});

/** `git init` in a folder, with the branch `main`, without hooks, and without a configuration of this machine. */
export function initRepo(root: string, format: 'sha1' | 'sha256' = 'sha1'): void {
  let template = templates.get(format);
  if (template === undefined) {
    template = mkdtempSync(join(tmpdir(), 'whetstone-test-'));
    const args = ['init', '-q', '-b', 'main', '--template=', `--object-format=${format}`, template];
    execFileSync('git', args, { env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' } });
    templates.set(format, template);
  }
  mkdirSync(root, { recursive: true });
  cpSync(join(template, '.git'), join(root, '.git'), { recursive: true });
}

/** The commit of the branch that a repository is on, as a commit has just written it. */
export function headOf(root: string): string {
  const head = readFileSync(join(root, '.git/HEAD'), 'utf8').trim();
  const branch = /^ref: (.*)$/.exec(head)?.[1];
  return branch === undefined ? head : readFileSync(join(root, '.git', branch), 'utf8').trim();
}

/**
 * What `git update-index --refresh` does to an index whose files are new copies of the same bytes: it writes down what `lstat` says
 * of them. The layout is that of version 2 in git's "index-format".
 */
export function refreshIndex(root: string, format: 'sha1' | 'sha256'): void {
  const file = join(root, '.git/index');
  const index = readFileSync(file);
  const idBytes = format === 'sha256' ? 32 : 20;
  if (index.toString('latin1', 0, 4) !== 'DIRC' || index.readUInt32BE(4) !== 2) throw new Error(`${file} has another layout`);
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const name = at + 40 + idBytes + 2;
    const end = index.indexOf(0, name);
    const found = lstatSync(Buffer.concat([Buffer.from(`${root}/`), index.subarray(name, end)]), { bigint: true });
    const { dev, ino, uid, gid, size, ctimeNs, mtimeNs } = found;
    const second = 1_000_000_000n;
    const times = [ctimeNs / second, ctimeNs % second, mtimeNs / second, mtimeNs % second];
    // The mode of the entry stays as it is.
    const facts = [...times, dev, ino, undefined, uid, gid, size];
    for (const [place, fact] of facts.entries()) {
      if (fact !== undefined) index.writeUInt32BE(Number(BigInt.asUintN(32, fact)), at + 4 * place);
    }
    // One to eight bytes fill up an entry.
    at += Math.floor((end - at) / 8 + 1) * 8;
  }
  const rest = index.subarray(0, -idBytes);
  writeFileSync(file, Buffer.concat([rest, createHash(format).update(rest).digest()]));
}
