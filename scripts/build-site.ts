/**
 * Builds the site of the documentation: `node scripts/build-site.ts [folder] [--versions [base]]`. Without a folder it goes where
 * `whetstone docs` of this clone finds it. With `--versions` it goes beside the sites of other versions in that folder, which is
 * served at `base` (default `/`).
 */
import { join, resolve } from 'node:path';
import { buildSite, siteFolder } from './site/build-site.ts';
import { buildVersion } from './site/version-folders.ts';

const [out = join(siteFolder, 'dist'), versions, base = '/'] = process.argv.slice(2);
if (versions === '--versions') await buildVersion(resolve(out), base);
else await buildSite(resolve(out));
