import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readChangesets } from '@changesets/read';
import { addRelease, type Change } from './changelog.ts';
import { type PublicPackage, packPackage, publicPackages } from './public-packages.ts';
import { webAddress } from './published-package.ts';

export type ReleaseOptions = {
  /** A clone without uncommitted changes, on `main`. */
  clone: string;
  /** A folder for the tarballs. */
  destination: string;
  /** Everything but the last step: npm publishes nothing, and nothing is pushed. */
  dryRun: boolean;
};

/**
 * Releases every public package: writes versions and the changelog from the pending changesets, commits, packs, publishes
 * in the order of dependencies, tags and pushes. An interrupted release can be repeated: it skips versions that the
 * registry has. Returns the paths of the tarballs.
 */
export async function releasePackages({ clone, destination, dryRun }: ReleaseOptions): Promise<string[]> {
  requireCleanMain(clone);
  if (await applyChangesets(clone)) commitVersion(clone);
  // An earlier compilation may have left files whose sources are gone.
  rmSync(join(clone, '.cache/build'), { recursive: true, force: true });
  const packed = publicPackages(clone).map((one) => ({ ...one, tarball: packPackage(one, destination) }));
  for (const one of packed) publish(clone, one, dryRun);
  git(clone, 'tag', '--annotate', `v${versionOf(clone)}`, '--message', `Release ${versionOf(clone)}`);
  if (!dryRun) git(clone, 'push', '--follow-tags', 'origin', 'main');
  return packed.map(({ tarball }) => tarball);
}

function requireCleanMain(clone: string): void {
  const branch = git(clone, 'branch', '--show-current');
  if (branch !== 'main') throw new Error(`a release needs the branch main; this is ${branch}`);
  const changes = git(clone, 'status', '--porcelain');
  if (changes) throw new Error(`a release needs a clone without uncommitted changes:\n${changes}`);
  // The published packages name it, and their links start with it.
  const origin = git(clone, 'remote', 'get-url', 'origin');
  if (!webAddress(origin)) throw new Error(`a release needs an origin on the web; this is ${origin}`);
}

/** Returns whether there were any. */
async function applyChangesets(clone: string): Promise<boolean> {
  const changes = (await readChangesets(clone)).flatMap(({ summary, releases }): Change[] => {
    const bumps = releases.map(({ type }) => type);
    const bump = (['major', 'minor', 'patch'] as const).find((one) => bumps.includes(one));
    return bump ? [{ summary, bump }] : [];
  });
  if (changes.length === 0) return false;
  run(clone, 'npm', 'run', '--silent', 'changeset', 'version');
  const file = join(clone, 'CHANGELOG.md');
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(file, addRelease(readFileSync(file, 'utf8'), { version: versionOf(clone), date, changes }));
  run(clone, 'npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit');
  run(clone, process.execPath, 'scripts/complete-lock.ts');
  return true;
}

/** All packages have one version. */
function versionOf(clone: string): string {
  return JSON.parse(readFileSync(join(clone, 'packages/whetstone/package.json'), 'utf8')).version;
}

function commitVersion(clone: string): void {
  git(clone, 'add', '--all');
  git(clone, 'commit', '--message', `Release ${versionOf(clone)}`);
  console.log(git(clone, 'show', '--stat', '--format=%s'));
}

function publish(clone: string, one: PublicPackage & { tarball: string }, dryRun: boolean): void {
  const { name, version, tarball } = one;
  if (isPublished(clone, name, version)) {
    console.log(`${name} ${version} is published already`);
    return;
  }
  const options = ['--access', 'public', '--loglevel', 'warn', ...(dryRun ? ['--dry-run'] : [])];
  run(clone, 'npm', 'publish', tarball, ...options);
}

function isPublished(clone: string, name: string, version: string): boolean {
  try {
    const found = execFileSync('npm', ['view', `${name}@${version}`, 'version', '--json'], {
      cwd: clone,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return found.trim() !== '';
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && String(error.stdout).includes('E404')) return false;
    throw error;
  }
}

export function git(clone: string, ...args: string[]): string {
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  return execFileSync('git', ['-C', clone, ...args], options).trim();
}

function run(clone: string, command: string, ...args: string[]): void {
  execFileSync(command, args, { cwd: clone, stdio: ['ignore', 'inherit', 'inherit'] });
}
