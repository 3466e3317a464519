import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const NODE_MODULES = join(import.meta.dirname, '../../node_modules');

/**
 * Joins the compiled modules in `dist` to one file per export, and one per `import()`: Node takes longer to find and
 * open a small module than to run it. Other packages stay imports, and the `.d.ts` files stay as they are.
 *
 * @param exports The `exports` of the package in the repository: paths below `./src`.
 * @param inlined Packages whose code becomes part of the files, with their licences at the top: those of many small files.
 */
export async function bundle(
  dist: string,
  exports: Readonly<Record<string, string>>,
  inlined: readonly string[],
): Promise<void> {
  const entries = Object.values(exports).map((source) => source.replace(/^\.\/src\/(.*)\.ts$/, '$1'));
  await using build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(dist, `${entry}.js`)])),
    external: (id) => !/^[./]/.test(id) && !inlined.includes(packageOf(id)),
    platform: 'node',
  });
  const { output } = await build.generate({
    format: 'esm',
    // One folder deep, as are the modules that look for the package.json two folders above them.
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  for (const file of globSync('**/*.js', { cwd: dist })) rmSync(join(dist, file));
  for (const file of output) {
    if (file.type !== 'chunk') throw new Error(`${file.fileName} is not a module`);
    mkdirSync(dirname(join(dist, file.fileName)), { recursive: true });
    const used = inlined.filter((name) => file.moduleIds.some((id) => id.includes(`/node_modules/${name}/`)));
    writeFileSync(join(dist, file.fileName), [...used.map(licenceOf), file.code].join(''));
  }
}

const packageOf = (id: string): string => id.split('/', id.startsWith('@') ? 2 : 1).join('/');

function licenceOf(name: string): string {
  const [file] = globSync('LICEN[CS]E*', { cwd: join(NODE_MODULES, name) });
  if (file === undefined) throw new Error(`${name} has no licence to quote`);
  return `/*! ${name}\n${readFileSync(join(NODE_MODULES, name, file), 'utf8').trim()}\n*/\n`;
}
