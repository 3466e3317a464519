import { join } from 'node:path';

type Manifest = Record<string, unknown> & { exports: Record<string, string> };

/** A package as it is published: where it is in the repository, and where the repository is on the web, if known. */
export type PublishedPlace = { folder: string; version: string; address: string | undefined };

/** The web page of a repository, from the address of a Git remote; `undefined` when that is a folder. */
export function webAddress(remote: string): string | undefined {
  const [, host, path] =
    /^(?:https?:\/\/|ssh:\/\/)(?:[^@/]+@)?([^/:]+)(?::\d+)?\/(.+?)(?:\.git)?\/?$/.exec(remote) ??
    /^[^@/]+@([^:/]+):(.+?)(?:\.git)?$/.exec(remote) ??
    [];
  return host && path ? `https://${host}/${path}` : undefined;
}

/** `package.json` with compiled exports, without scripts, and with the places on the web. */
export function publishedManifest(manifest: Manifest, { folder, address }: PublishedPlace): object {
  const { scripts: _, ...kept } = manifest;
  const exports = Object.entries(manifest.exports).map(([path, source]) => {
    // A schema is published as it is.
    if (!source.endsWith('.ts')) return [path, source];
    const compiled = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '');
    return [path, { types: `${compiled}.d.ts`, default: `${compiled}.js` }];
  });
  return {
    ...kept,
    exports: Object.fromEntries(exports),
    ...(address !== undefined && {
      repository: { type: 'git', url: `git+${address}.git`, directory: folder },
      homepage: `${address}/tree/HEAD/${folder}#readme`,
      bugs: `${address}/issues`,
    }),
  };
}

/** A README whose links into the repository work outside it, at the version that is published. */
export function publishedReadme(text: string, { folder, version, address }: PublishedPlace): string {
  if (address === undefined) return text;
  return text.replaceAll(RELATIVE_LINK, (_, target: string) => {
    return `](${address}/blob/v${version}/${join(folder, target)})`;
  });
}

/** The target of a Markdown link that is not a URL and not a heading of the page. */
export const RELATIVE_LINK = /\]\((?![a-z]+:|#)([^)\s]+)\)/g;
