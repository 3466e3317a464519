import { cpSync, existsSync, globSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git, releasePackages } from './release-packages.ts';

const root = join(import.meta.dirname, '../..');

/** The origin of the copy, where nothing is. */
const REHEARSED_ADDRESS = 'https://git.example.invalid/whetstone/whetstone';

/**
 * Runs the steps of `npm run release` on a copy of the working tree in the folder `work`, without publishing or pushing.
 * The working tree does not change. Returns the paths of the tarballs.
 */
export async function rehearseRelease(work: string): Promise<string[]> {
  const clone = join(work, 'clone');
  const destination = join(work, 'tarballs');
  mkdirSync(destination, { recursive: true });
  copyTree(clone);
  linkModules(clone);
  if (globSync('.changeset/*.md', { cwd: clone }).every((file) => file.endsWith('README.md'))) {
    console.log('No changeset is pending. The rehearsal makes one up.');
    writeFileSync(
      join(clone, '.changeset/rehearsal.md'),
      '---\nwhetstone: patch\n---\n\nA made-up change.\n',
    );
  }
  commitAll(clone);
  return await releasePackages({ clone, destination, dryRun: true });
}

/** Copies every file that Git tracks or would add, so uncommitted changes are included. */
function copyTree(clone: string): void {
  const listed = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard');
  for (const file of listed.split('\0')) {
    const source = join(root, file);
    if (file && existsSync(source)) cpSync(source, join(clone, file), { verbatimSymlinks: true });
  }
}

/** Links the dependencies of the working tree and the packages of the copy. */
function linkModules(clone: string): void {
  const modules = join(root, 'node_modules');
  const linked = join(clone, 'node_modules');
  mkdirSync(join(linked, '@whetstone'), { recursive: true });
  for (const name of readdirSync(modules)) {
    if (name !== 'whetstone' && name !== '@whetstone') symlinkSync(join(modules, name), join(linked, name));
  }
  for (const name of readdirSync(join(clone, 'packages'))) {
    symlinkSync(
      join(clone, 'packages', name),
      join(linked, name === 'whetstone' ? name : `@whetstone/${name}`),
    );
  }
}

function commitAll(clone: string): void {
  git(clone, 'init', '--initial-branch', 'main');
  git(clone, 'remote', 'add', 'origin', `${REHEARSED_ADDRESS}.git`);
  for (const [key, value] of Object.entries({
    'user.name': 'Rehearsal',
    'user.email': 'rehearsal@example.invalid',
    'commit.gpgSign': 'false',
    'tag.gpgSign': 'false',
  })) {
    git(clone, 'config', key, value);
  }
  git(clone, 'add', '--all');
  git(clone, 'commit', '--quiet', '--message', 'The working tree');
}
