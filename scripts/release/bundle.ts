import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const NODE_MODULES = join(import.meta.dirname, '../../node_modules');

/**
 * Packages of 70 and of 95 small modules, which take longer to load than all else that a command needs. `@whetstone/events`
 * publishes each as one module, which the other packages import in its place, so that a program has it once.
 */
const JOINED = ['yaml', 'zod'];
/** The id of the module that exports what such a package exports. */
const JOINING = 'joined:';
export const JOINED_EXPORT: readonly [string, string] = ['./joined/*', './dist/joined/*.js'];

type Bundled = {
  /** Modules that are imported by their path, without their extension: what the package exports, and what it starts. */
  entries: readonly string[];
  /** Packages whose code becomes part of the files, with their licences at the top: those of many small files. */
  inlined?: readonly string[];
  /** Whether the package is the one that publishes `JOINED`. */
  joins?: boolean;
};

/**
 * Joins the compiled modules in `dist` to one file per entry, and one per `import()`: Node takes longer to find and
 * open a small module than to run it. Other packages stay imports, and the `.d.ts` files stay as they are.
 */
export async function bundle(dist: string, { entries, inlined = [], joins = false }: Bundled): Promise<void> {
  const joined = joins ? JOINED : [];
  await using build = await rolldown({
    input: {
      ...Object.fromEntries(entries.map((entry) => [entry, join(dist, `${entry}.js`)])),
      ...Object.fromEntries(joined.map((name) => [`joined/${name}`, JOINING + name])),
    },
    platform: 'node',
    plugins: [packagesOutside(inlined)],
  });
  const { output } = await build.generate({
    format: 'esm',
    // One folder deep, as are the modules that look for files in the folder above theirs.
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  const placed = output.map((file) => {
    if (file.type !== 'chunk') throw new Error(`${file.fileName} is not a module`);
    const own = file.moduleIds.filter((id) => id.startsWith(dist));
    for (const id of own) assertAsDeep(relative(dist, id), file.fileName, readFileSync(id, 'utf8'));
    return file;
  });
  for (const file of globSync('**/*.js', { cwd: dist })) rmSync(join(dist, file));
  for (const file of placed) {
    mkdirSync(dirname(join(dist, file.fileName)), { recursive: true });
    const used = [...inlined, ...joined].filter((name) =>
      file.moduleIds.some((id) => id.includes(`/node_modules/${name}/`)),
    );
    writeFileSync(join(dist, file.fileName), [...used.map(licenceOf), file.code].join(''));
  }
}

/** The compiled modules that look for files beside them, which have to keep their place. Without their extension. */
export const placedModules = (dist: string): string[] =>
  globSync('**/*.js', { cwd: dist })
    .filter((file) => LOOKS_BESIDE_ITSELF.test(readFileSync(join(dist, file), 'utf8')))
    .map((file) => file.slice(0, -'.js'.length));

const LOOKS_BESIDE_ITSELF = /\bimport\.meta\.(url|dirname|filename)\b/;

function assertAsDeep(source: string, file: string, code: string): void {
  const depth = (path: string): number => path.split('/').length;
  if (LOOKS_BESIDE_ITSELF.test(code) && depth(source) !== depth(file))
    throw new Error(`${source} would look for its files from ${file}: make it an entry`);
}

/** Other packages stay imports, but for the inlined ones and, in the modules that join them, those of `JOINED`. */
const packagesOutside = (inlined: readonly string[]): Plugin => ({
  name: 'packages-outside',
  resolveId(id) {
    if (id.startsWith(JOINING)) return id;
    if (/^[./]/.test(id)) return null;
    if (JOINED.includes(id)) return { id: `@whetstone/events/joined/${id}`, external: true };
    return inlined.includes(packageOf(id)) ? null : { id, external: true };
  },
  async load(id) {
    // Nothing here speaks another language.
    if (id.endsWith('/zod/v4/locales/index.js')) return "export { default as en } from './en.js';";
    if (!id.startsWith(JOINING)) return null;
    const name = id.slice(JOINING.length);
    const names = Object.keys(await import(name)).filter((one) => !/^(default|module\.exports)$/.test(one));
    return `export { ${names.join(', ')} } from '${fileURLToPath(import.meta.resolve(name))}';`;
  },
});

const packageOf = (id: string): string => id.split('/', id.startsWith('@') ? 2 : 1).join('/');

function licenceOf(name: string): string {
  const [file] = globSync('LICEN[CS]E*', { cwd: join(NODE_MODULES, name) });
  if (file === undefined) throw new Error(`${name} has no licence to quote`);
  return `/*! ${name}\n${readFileSync(join(NODE_MODULES, name, file), 'utf8').trim()}\n*/\n`;
}
