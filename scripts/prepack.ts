/**
 * Runs before `npm pack` of a package: compiles it into `dist/` and points its package.json at the compiled files.
 * In the repository the package exports its TypeScript, so that nothing has to be built; `postpack.ts` puts that back.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

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
// The compiler sometimes leaves out a JSON module.
for (const file of globSync('**/*.json', { cwd: join(folder, 'src'), exclude: ['**/__fixtures__/**'] })) {
  cpSync(join(folder, 'src', file), join(folder, 'dist', file));
}

if (name === 'whetstone') copyPage();

copyFileSync(manifest, join(folder, 'package.json.unpacked'));
const content = JSON.parse(readFileSync(manifest, 'utf8'));
content.exports = Object.fromEntries(
  Object.entries<string>(content.exports).map(([path, source]) => {
    const compiled = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
    return [path, { types: `${compiled}.d.ts`, default: `${compiled}.js` }];
  }),
);
delete content.scripts;
writeFileSync(manifest, `${JSON.stringify(content, null, 2)}\n`);

/** The web page ships inside the command line. */
function copyPage(): void {
  const page = join(root, 'packages/view/src');
  for (const file of globSync('*.{html,css,js}', { cwd: page })) {
    cpSync(join(page, file), join(folder, 'dist/view-static', file));
  }
}
