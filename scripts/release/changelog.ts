/** One change since the last release. `bump` is the size of its version step. */
export type Change = { summary: string; bump: 'major' | 'minor' | 'patch' };

const LARGEST_FIRST = ['major', 'minor', 'patch'];

/** Adds the section of a release above the older ones. `date` is an ISO day. */
export function addRelease(
  changelog: string,
  { version, date, changes }: { version: string; date: string; changes: readonly Change[] },
): string {
  const items = [...changes]
    .sort((a, b) => LARGEST_FIRST.indexOf(a.bump) - LARGEST_FIRST.indexOf(b.bump))
    .map(({ summary }) => `- ${summary.trim().replaceAll('\n', '\n  ')}`);
  const section = `## ${version} (${date})\n\n${items.join('\n')}\n`;
  const older = changelog.search(/^## /m);
  if (older < 0) return `${changelog.trimEnd()}\n\n${section}`;
  return `${changelog.slice(0, older)}${section}\n${changelog.slice(older)}`;
}
