import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { removeFolders } from '../process/launcher.ts';
import type { Owner } from '../process/launcher-interface.ts';
import type { SandboxOptions } from '../sandbox.ts';
import type { Hiding } from './containment.ts';
import type { SandboxFolders } from './scrubbed-environment.ts';

/** Commits need an author, and the tests of a task may commit. The name identifies nobody. */
const GIT_CONFIG =
  '[user]\n\tname = Developer\n\temail = developer@localhost\n[init]\n\tdefaultBranch = main\n';

/** The name of the sandbox's own folder where paths must be the same in every sandbox. */
const FIXED_NAME = 's';

/**
 * Makes the private folders of one sandbox: below the folder around its workspace if that is a folder of `scratch` or is
 * seen elsewhere, else below `scratch` itself. Their names say nothing about the case. It is synchronous, because a promise
 * per folder costs more than making the folder. `canHide`: whether commands can be kept from seeing what else is in
 * `scratch`. `owner`: to whom the folders belong, if not to the user of this process.
 */
export function makeSandboxFolders(
  scratch: string,
  { workdir, home, at }: Pick<SandboxOptions, 'workdir' | 'home' | 'at'>,
  { canHide, owner }: { canHide: boolean; owner?: Owner | undefined },
): OwnFolders {
  const around = dirname(workdir);
  const isInScratch = dirname(around) === scratch;
  const own = isInScratch || at !== undefined ? around : undefined;
  const give = (path: string): void => {
    if (owner) chownSync(path, owner.uid, owner.gid);
  };
  if (own !== undefined) give(own);
  const root = join(own ?? scratch, at === undefined ? shortName() : FIXED_NAME);
  const folders = {
    home: home ?? join(root, 'home'),
    temporary: join(root, 'tmp'),
    runtime: join(root, 'run'),
  };
  // The other XDG folders are below HOME. Programs make them when they need them, as their specification says.
  for (const folder of [root, ...Object.values(folders)]) {
    if (folder === home) continue;
    mkdirSync(folder, { mode: 0o700 });
    give(folder);
  }
  const gitConfig = join(folders.home, '.gitconfig');
  if (home === undefined || !existsSync(gitConfig)) {
    writeFileSync(gitConfig, GIT_CONFIG);
    give(gitConfig);
  }
  const ownFolders = { root, ...folders };
  if (own === undefined || !canHide) return ownFolders;
  const view = join(scratch, shortName());
  const seen = [own, ...(at === undefined ? [] : [at])].filter((path) => dirname(path) === scratch);
  for (const folder of [view, ...seen.map((path) => join(view, basename(path)))]) mkdirSync(folder);
  if (at !== undefined && !seen.includes(at)) makeOwnFolder(at);
  return { ...ownFolders, hiding: { common: scratch, own, view, ...(at !== undefined && { at }) } };
}

/** Its name can be guessed and it stays, so another user may have put a folder or a link there. */
function makeOwnFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = lstatSync(path);
  if (stat.isDirectory() && stat.uid === process.getuid?.()) return;
  throw new WhetstoneError(
    'sandbox-start-failed',
    'The folder at which commands see their tree is not yours.',
    {
      where: path,
      hint: 'Remove it, or set TMPDIR to a folder of your own.',
    },
  );
}

export type OwnFolders = SandboxFolders & {
  root: string;
  /** Absent: nothing can be hidden. */
  hiding?: Hiding;
};

const shortName = (): string => randomUUID().slice(0, 13);

/** Removes what `makeSandboxFolders` made, whatever the sandbox's commands did in it. */
export async function removeSandboxFolders({ root, hiding }: OwnFolders): Promise<void> {
  await removeFolders(hiding ? [hiding.view, root] : [root]).catch((cause: Error) => {
    throw new WhetstoneError(
      'sandbox-cleanup-failed',
      'The temporary folder of a sandbox cannot be removed.',
      { where: root, cause },
    );
  });
}
