import {
  closeSync,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { entryUnder, removeTree, SHORTEST_SECRET, secretForms } from '@whetstone/sandbox';
import { hashBytes, hashFile } from '../workspace/hash-blob.ts';
import { takeTurns } from '../workspace/take-turns.ts';
import { absolutePath, displayPath, type FilePath, joinPath } from '../workspace/tree-path.ts';
import type { TreeEntries } from '../workspace/workspace.ts';

/** Files below HOME that programs keep credentials in, and what only describes one installation. */
const NOT_KEPT_OF_HOME = [
  ...[
    '.gitconfig',
    '.git-credentials',
    '.netrc',
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pypirc',
    '.bunfig.toml',
  ],
  ...[
    '.ssh',
    '.gnupg',
    '.aws',
    '.docker',
    '.config/gh',
    '.config/git',
    '.config/pip',
    '.config/gcloud',
    '.pip',
  ],
  ...['.config/pypoetry/auth.toml', '.cargo/credentials', '.cargo/credentials.toml', '.m2/settings.xml'],
  ...['.gradle/gradle.properties', '.npm/_logs', '.npm/_update-notifier-last-checked'],
  ...['.bash_history', '.node_repl_history', '.python_history'],
];

/** The same in the root of the tree, where the tree has none of its own. */
const NOT_KEPT_OF_TREE = ['.npmrc', '.netrc', '.pypirc', '.git-credentials'];

/**
 * Refuses a folder that the commands replaced by a link: whatever is cleaned in it would be a file of the user.
 * @throws WhetstoneError `environment-prepare-failed`
 */
export function refuseReplaced(folders: readonly string[]): void {
  if (folders.every((folder) => lstatSync(folder, { throwIfNoEntry: false })?.isDirectory())) return;
  throw new WhetstoneError(
    'environment-prepare-failed',
    'prepare removed its folder or its HOME, or replaced one of them by a link.',
  );
}

/**
 * Takes out what must not be shared: credentials by their usual places, the commands' own `.git`, and what is not a file, a
 * folder or a link. Returns display paths.
 */
export async function dropUnshareable(
  { tree, home }: { tree: string; home: string },
  inputs: TreeEntries,
): Promise<string[]> {
  await removeTree(join(tree, '.git'));
  const dropped: string[] = [];
  const drop = async (folder: string, name: string, paths: readonly string[]) => {
    for (const path of paths) {
      const entry = await entryUnder(folder, path).catch(outside);
      if (!entry || !lstatSync(entry, { throwIfNoEntry: false })) continue;
      rmSync(entry, { recursive: true });
      if (path !== '.gitconfig') dropped.push(`${name}${path}`);
    }
  };
  await drop(home, '~/', NOT_KEPT_OF_HOME);
  await drop(
    tree,
    '',
    NOT_KEPT_OF_TREE.filter((path) => !inputs.has(path)),
  );
  for (const [folder, name] of [
    [tree, ''],
    [home, '~/'],
  ] as const) {
    await walk(folder, (path, entry) => {
      if (entry.isFile() || entry.isDirectory() || entry.isSymbolicLink()) return;
      unlinkSync(absolutePath(folder, path));
      dropped.push(`${name}${displayPath(path)}`);
    });
  }
  return dropped;
}

/** Behind a link that leads out of the layer or nowhere, the layer has no file. */
function outside(error: unknown): undefined {
  if (!['sandbox-path-outside', 'ENOENT', 'ELOOP'].includes(String(codeOf(error)))) throw error;
}

/** Display paths of the inputs that are not what they were. */
export async function changedInputs(tree: string, inputs: TreeEntries): Promise<string[]> {
  const changed: string[] = [];
  for (const [path, { mode, oid }] of inputs) {
    if (mode !== '160000' && (await contentAt(absolutePath(tree, path), oid.length)) !== `${mode} ${oid}`)
      changed.push(displayPath(path));
  }
  return changed;
}

async function contentAt(path: FilePath, idLength: number): Promise<string | undefined> {
  const format = idLength === 64 ? 'sha256' : 'sha1';
  try {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink())
      return `120000 ${hashBytes(readlinkSync(path, { encoding: 'buffer' }), format)}`;
    return stat.isFile()
      ? `${stat.mode & 0o100 ? '100755' : '100644'} ${await hashFile(path, format)}`
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Refuses a layer that has the value of a secret in a file, or in the target of a link.
 * @throws WhetstoneError `environment-secret-kept`
 */
export async function refuseSecrets(
  folders: Readonly<Record<string, string>>,
  secrets: readonly string[],
): Promise<void> {
  const values = [...new Set(secrets)].filter((value) => value.length >= SHORTEST_SECRET);
  const needles = values.flatMap(secretForms).map(({ bytes }) => bytes);
  if (needles.length === 0) return;
  for (const [name, folder] of Object.entries(folders)) {
    await walk(folder, (path, entry) => {
      const absolute = absolutePath(folder, path);
      const has = entry.isSymbolicLink()
        ? needles.some((needle) => readlinkSync(absolute, { encoding: 'buffer' }).includes(needle))
        : entry.isFile() && fileHolds(absolute, needles);
      if (has) throw keptSecret(`${name}${displayPath(path)}`);
    });
  }
}

const CHUNK = 1024 * 1024;

function fileHolds(path: FilePath, needles: readonly Buffer[]): boolean {
  const overlap = Math.max(...needles.map(({ length }) => length)) - 1;
  const buffer = Buffer.allocUnsafe(CHUNK + overlap);
  const descriptor = openSync(path, 'r');
  try {
    for (let kept = 0; ; ) {
      const read = readSync(descriptor, buffer, kept, CHUNK, null);
      const whole = buffer.subarray(0, kept + read);
      if (needles.some((needle) => whole.includes(needle))) return true;
      if (read < CHUNK) return false;
      kept = Math.min(overlap, whole.length);
      whole.copy(buffer, 0, whole.length - kept);
    }
  } finally {
    closeSync(descriptor);
  }
}

function keptSecret(where: string): WhetstoneError {
  return new WhetstoneError('environment-secret-kept', 'prepare left the value of a secret in a file.', {
    where,
    hint: 'Every case would get that file. Have the commands read the secret from its variable, or remove the file at the end of `prepare`.',
  });
}

type Visit = (path: string, entry: Dirent<Buffer>) => void;

async function walk(folder: string, visit: Visit): Promise<void> {
  const turn = takeTurns();
  const waiting = [''];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    for (const entry of readdirSync(absolutePath(folder, parent), {
      encoding: 'buffer',
      withFileTypes: true,
    })) {
      const path = joinPath(parent, entry.name.toString('latin1'));
      visit(path, entry);
      if (entry.isDirectory()) waiting.push(path);
      await turn();
    }
  }
}
