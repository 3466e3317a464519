import { join } from 'node:path';

const TEMPORARY = '.cache/tmp';

/**
 * A temporary folder in the home, for a Codex that confines its commands: it has no sandbox when its own folder is below
 * the temporary one. It names the temporary folder in its prompt as well, where a replay knows it again because it is in
 * the home.
 */
export const ownTemporary = (home: string) => ({
  files: { [`${TEMPORARY}/README`]: 'The temporary files of a case.\n' },
  env: { TMPDIR: join(home, TEMPORARY) },
});
