const DEVICE_NAME = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)$/i;

/** A path that a config may contain: relative, separated by `/`, and inside the tree on every file system. */
export type PathCheck = { kind: 'safe'; path: string } | { kind: 'unsafe'; reason: string };

/**
 * Checks a path that Whetstone will write or remove below a tree. Refused: the tree itself, `..`, absolute paths,
 * drive letters, backslashes, control characters, Windows device names, trailing dots and spaces, and `.git` in any
 * spelling that some file system reads as `.git`. A safe path comes back normalised (`./a//b/` is `a/b`).
 */
export function checkSafePath(text: string): PathCheck {
  const reason = unsafeReason(text);
  if (reason !== undefined) return { kind: 'unsafe', reason };
  const path = segmentsOf(text).join('/');
  return path === '' ? { kind: 'unsafe', reason: 'is the whole tree' } : { kind: 'safe', path };
}

function segmentsOf(text: string): string[] {
  return text.split('/').filter((segment) => segment !== '' && segment !== '.');
}

function unsafeReason(text: string): string | undefined {
  if (text.trim() === '') return 'is empty';
  if (/\p{Cc}/u.test(text)) return 'contains a control character';
  if (text.includes('\\')) return 'contains a backslash; separate folders with /';
  if (text.startsWith('/')) return 'is absolute';
  if (/^[A-Za-z]:/.test(segmentsOf(text)[0] ?? '')) return 'starts with a drive letter';
  for (const segment of segmentsOf(text)) {
    if (segment === '..') return 'leaves the tree (..)';
    if (isGitFolder(segment)) return "reaches into Git's own folder (.git)";
    if (/[. ]$/.test(segment)) return 'has a name that ends in a dot or a space, which Windows drops';
    if (isDeviceName(segment)) return `has a name that Windows keeps for a device (${segment})`;
  }
  return undefined;
}

/** Whether Windows takes the name for a device. It does so in every folder, with any extension. */
export function isDeviceName(fileName: string): boolean {
  return DEVICE_NAME.test((fileName.split('.', 1)[0] ?? '').trimEnd());
}

/** HFS+ ignores some code points. NTFS ignores trailing dots, spaces and streams, and has the short name `git~1`. */
export function isGitFolder(segment: string): boolean {
  const name = segment.replace(/\p{Default_Ignorable_Code_Point}/gu, '').toLowerCase();
  const stem = (name.split(':', 1)[0] ?? '').replace(/[. ]+$/, '');
  return stem === '.git' || stem === 'git~1';
}
