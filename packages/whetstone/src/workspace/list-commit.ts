import { git } from './git.ts';

/** Mode and blob id of each file of a commit that is not withheld, by path (bytes as a latin1 string). */
export async function listCommit(
  gitDir: string,
  commit: string,
  isWithheld: (path: string) => boolean,
): Promise<Map<string, { mode: string; oid: string }>> {
  const listing = await git(['ls-tree', '-r', '-z', '--full-tree', commit], { gitDir });
  const entries = new Map<string, { mode: string; oid: string }>();
  for (const line of listing.toString('latin1').split('\0')) {
    const [facts = '', path = ''] = line.split('\t', 2);
    const [mode = '', , oid = ''] = facts.split(' ');
    if (path !== '' && !isWithheld(path)) entries.set(path, { mode, oid });
  }
  return entries;
}
