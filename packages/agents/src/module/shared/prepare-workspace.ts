import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { Sandbox, SandboxFile } from '@whetstone/sandbox';
import picomatch from 'picomatch';

/** A folder on the host. Its files become the workspace. */
export type WorkspaceFixture = {
  path: string;
  /** Globs (picomatch) of files that the agent must not see. Default: `hiddenByDefault`. */
  hidden?: readonly string[];
};

/** The text of the task, and its tests. */
export const hiddenByDefault: readonly string[] = [
  'PROMPT.md',
  'EVAL.{ts,tsx,mts,js,jsx,mjs}',
  '**/*.{test,spec}.{ts,tsx,mts,cts,js,jsx,mjs,cjs}',
];

/** Never part of a fixture. */
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules']);

const COMMIT = `git init --quiet &&
git add --all &&
git -c user.name=Developer -c user.email=developer@localhost -c commit.gpgsign=false \\
  commit --quiet --no-verify --allow-empty --message Start`;

/** By sandbox. Kept in memory, because an agent could read or change files on a disk. */
const hidden = new WeakMap<Sandbox, SandboxFile[]>();

/** The files that `prepareWorkspace` has hidden from the agent in this sandbox. */
export function hiddenFiles(sandbox: Sandbox): readonly SandboxFile[] {
  return hidden.get(sandbox) ?? [];
}

/**
 * Uploads a fixture to the workspace and commits it; later diffs start from this commit. Tests and `PROMPT.md` are held
 * back until `runValidation`; `.git` and `node_modules` are left out. For adapters that are driven outside a run; in a
 * run, the workspace is ready before the adapter is called.
 *
 * @throws WhetstoneError `fixture-invalid` for an entry that is neither a file nor a folder, `fixture-commit-failed` when Git fails.
 */
export async function prepareWorkspace(sandbox: Sandbox, fixture: WorkspaceFixture | string): Promise<void> {
  const { path, hidden: patterns = hiddenByDefault } =
    typeof fixture === 'string' ? { path: fixture } : fixture;
  const isHidden = picomatch([...patterns], { dot: true });
  const files = await filesOf(path, '');
  hidden.set(
    sandbox,
    files.filter((file) => isHidden(file.path)),
  );
  await sandbox.uploadFiles(files.filter((file) => !isHidden(file.path)));
  const committed = await sandbox.runShell(COMMIT, { cwd: sandbox.workdir });
  if (committed.exitCode === 0) return;
  throw new WhetstoneError('fixture-commit-failed', 'Git could not commit the workspace.', {
    where: path,
    hint: committed.stderr.trim(),
  });
}

async function filesOf(root: string, folder: string): Promise<SandboxFile[]> {
  const files: SandboxFile[] = [];
  for (const name of (await readdir(join(root, folder))).sort()) {
    const path = folder === '' ? name : `${folder}/${name}`;
    const absolute = join(root, path);
    const status = await lstat(absolute);
    if (status.isDirectory()) {
      if (!SKIPPED_FOLDERS.has(name)) files.push(...(await filesOf(root, path)));
    } else if (status.isFile()) {
      const mode = (status.mode & 0o111) === 0 ? 0o644 : 0o755;
      files.push({ path, content: await readFile(absolute), mode });
    } else {
      throw new WhetstoneError('fixture-invalid', 'A fixture may contain only regular files and folders.', {
        where: absolute,
        hint: 'Replace the link by the file that it points to.',
      });
    }
  }
  return files;
}
