/** Runs after `npm pack`: puts the package.json of the repository back and removes what was compiled. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.cwd();
const kept = join(folder, 'package.json.unpacked');
if (existsSync(kept)) renameSync(kept, join(folder, 'package.json'));
rmSync(join(folder, 'dist'), { recursive: true, force: true });
