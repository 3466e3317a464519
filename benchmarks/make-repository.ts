import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';

const BYTES_A_FILE = 7_000;
const FILES_A_FOLDER = 40;

/**
 * Makes a repository with one commit of `files` text files of 7 kB in folders of 40, packed and with a work tree, like a
 * clone. The same input gives the same commit. Returns its id.
 */
export async function makeRepository(directory: string, files: number): Promise<string> {
  mkdirSync(directory, { recursive: true });
  git(directory, 'init', '--quiet', '--initial-branch=main');
  const importer = spawn('git', ['-C', directory, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(importer, 'exit');
  importer.stdin.write(
    'commit refs/heads/main\ncommitter Benchmark <benchmark@example.invalid> 1767268800 +0000\ndata 5\nstart\n',
  );
  for (const [path, content] of contents(files)) {
    const more = importer.stdin.write(`M 100644 inline ${path}\ndata ${content.length}\n${content}\n`);
    if (!more) await once(importer.stdin, 'drain');
  }
  importer.stdin.end();
  const [code] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  git(directory, 'reset', '--quiet', '--hard', 'main');
  return git(directory, 'rev-parse', 'main').trim();
}

/** The path of the `index`th file, from 0. The first is README.md. */
export function pathOf(index: number): string {
  if (index === 0) return 'README.md';
  return `src/part-${Math.floor(index / FILES_A_FOLDER)}/file-${index}.txt`;
}

export function git(directory: string, ...args: string[]): string {
  return execFileSync('git', ['-C', directory, ...args], {
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    maxBuffer: 1024 ** 3,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function* contents(files: number): Generator<[path: string, content: string]> {
  for (let index = 0; index < files; index++) {
    let content = '';
    for (let line = 0; content.length < BYTES_A_FILE; line++) {
      content += `line ${line} of file ${index}: ${Math.imul(index * 4099 + line, 2654435761) >>> 0}\n`;
    }
    yield [pathOf(index), content];
  }
}
