import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type PublicPackage = { name: string; version: string; folder: string };

type Manifest = { name: string; version: string; private?: boolean; dependencies?: Record<string, string> };

/** The packages of a clone that are published, each after the packages that it depends on. */
export function publicPackages(clone: string): PublicPackage[] {
  const manifests = new Map<string, Manifest & { folder: string }>();
  for (const file of globSync(join(clone, 'packages/*/package.json')).sort()) {
    const manifest: Manifest = JSON.parse(readFileSync(file, 'utf8'));
    if (!manifest.private) manifests.set(manifest.name, { ...manifest, folder: dirname(file) });
  }
  const ordered = new Map<string, PublicPackage>();
  const add = (name: string): void => {
    const manifest = manifests.get(name);
    if (!manifest || ordered.has(name)) return;
    for (const dependency of Object.keys(manifest.dependencies ?? {})) add(dependency);
    ordered.set(name, { name, version: manifest.version, folder: manifest.folder });
  };
  for (const name of manifests.keys()) add(name);
  return [...ordered.values()];
}

/** Packs one package into `destination`. Returns the tarball's path. */
export function packPackage({ name, folder }: PublicPackage, destination: string): string {
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', destination], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const described = JSON.parse(output.slice(output.search(/^[[{]/m)));
  const [packed] = (Array.isArray(described) ? described : Object.values(described)) as {
    filename: string;
    files: { path: string }[];
  }[];
  if (!packed) throw new Error(`npm pack of ${name} printed no description`);
  const unwanted = packed.files.filter(({ path }) => /\.test\.|__fixtures__|(?<!\.d)\.ts$/.test(path));
  const missing = ['LICENSE', 'README.md'].filter((file) => packed.files.every(({ path }) => path !== file));
  if (missing.length > 0) throw new Error(`${name} packs no ${missing.join(' and no ')}`);
  if (unwanted.length > 0) throw new Error(`${name} packs ${unwanted.map(({ path }) => path).join(', ')}`);
  console.log(`${packed.filename}: ${packed.files.length} files`);
  return join(destination, packed.filename);
}
