/**
 * Runs before `npm pack` of a package: compiles it into `dist/`, joins the modules, and points its package.json at the
 * compiled files.
 * It adds the licence, and the address of the repository to package.json and to the links of the README. In the
 * repository the package exports its TypeScript, so that nothing has to be built; `postpack.ts` puts that back.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pageFiles } from '../packages/whetstone/src/view/page-files.ts';
import { bundle, JOINED_EXPORT, placedModules } from './release/bundle.ts';
import { publishedManifest, publishedReadme, webAddress } from './release/published-package.ts';
import { buildSite } from './site/build-site.ts';

/** `ajv` and what it needs are 90 files, which take four times as long to load as the same code in one. */
const VALIDATOR = ['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'require-from-string'];

/** What is started or loaded by its path. */
const STARTED = ['cli/exp-host', 'cli/main', 'eval/authoring', 'eval/worker/main'];

const root = join(import.meta.dirname, '..');
const folder = process.cwd();
const manifest = join(folder, 'package.json');
const name = basename(folder);

execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
});
rmSync(join(folder, 'dist'), { recursive: true, force: true });
cpSync(join(root, '.cache/build', name, 'src'), join(folder, 'dist'), { recursive: true });
// The compiler leaves out what no module imports, such as the price list with its licence.
for (const file of globSync('**/{*.json,LICENSE}', {
  cwd: join(folder, 'src'),
  exclude: ['**/__fixtures__/**'],
})) {
  cpSync(join(folder, 'src', file), join(folder, 'dist', file));
}

const content = JSON.parse(readFileSync(manifest, 'utf8'));
const dist = join(folder, 'dist');
const exported = Object.values<string>(content.exports).flatMap(
  (source) => /^\.\/src\/(.*)\.ts$/.exec(source)?.[1] ?? [],
);
if (name === 'whetstone') {
  await bundle(dist, { entries: [...exported, ...STARTED, ...placedModules(dist)], inlined: ['commander'] });
  copyPage();
  await buildSite(join(dist, 'docs-static'));
} else if (name === 'events') {
  await bundle(dist, { entries: exported, joins: true });
  const [path, files] = JOINED_EXPORT;
  content.exports[path] = files;
} else await bundle(dist, { entries: exported, inlined: name === 'loop' ? VALIDATOR : [] });

const place = { folder: `packages/${name}`, version: content.version, address: repositoryAddress() };
replaceFile(manifest, `${JSON.stringify(publishedManifest(content, place), null, 2)}\n`);
const readme = join(folder, 'README.md');
replaceFile(readme, publishedReadme(readFileSync(readme, 'utf8'), place));
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));

/** Keeps the file of the repository for `postpack.ts`, by a name that npm does not pack: it packs README.*. */
function replaceFile(file: string, text: string): void {
  copyFileSync(file, join(folder, `unpacked.${basename(file)}`));
  writeFileSync(file, text);
}

function repositoryAddress(): string | undefined {
  try {
    const remote = execFileSync('git', ['remote', 'get-url', 'origin'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return webAddress(remote.trim());
  } catch {
    return undefined; // a copy without a remote
  }
}

/** The web page ships inside the command line, with what it takes from other packages. */
function copyPage(): void {
  for (const [file, { path }] of pageFiles()) cpSync(path, join(folder, 'dist/view-static', file));
}
