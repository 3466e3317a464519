/** Runs after `npm pack`: puts the files of the repository back and removes what was compiled and copied. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.cwd();
for (const file of ['package.json', 'README.md']) {
  const kept = join(folder, `unpacked.${file}`);
  if (existsSync(kept)) renameSync(kept, join(folder, file));
}
rmSync(join(folder, 'LICENSE'), { force: true });
rmSync(join(folder, 'dist'), { recursive: true, force: true });
