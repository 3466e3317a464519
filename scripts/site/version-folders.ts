import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSite, root } from './build-site.ts';

/**
 * Builds the site of this version into a folder that is served on the web and keeps the sites of the versions before:
 * `FOLDER/v1.2.3/`, with a list of all versions and a first page that leads to the newest. `base`: the path at which the folder is
 * served, which begins and ends with a slash.
 */
export async function buildVersion(
  folder: string,
  base: string,
  options: { only?: readonly string[] } = {},
): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'packages/whetstone/package.json'), 'utf8'));
  await buildSite(join(folder, `v${version}`), {}, { ...options, base: `${base}v${version}/` });
  writeVersions(folder);
}

/** Writes the list of the versions that a folder has, and its first page. */
export function writeVersions(folder: string): void {
  const [newest, ...older] = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^v\d+\.\d+\.\d+/.test(entry.name))
    .map(({ name }) => name)
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  if (newest === undefined) return;
  const items = [
    `<li><a href="${newest}/">${newest}</a>, the newest</li>`,
    ...older.map((name) => `<li><a href="${name}/">${name}</a></li>`),
  ];
  writeFileSync(join(folder, 'versions.html'), page('All versions', `<ul>\n${items.join('\n')}\n</ul>`));
  const refresh = `<meta http-equiv="refresh" content="0; url=${newest}/" />`;
  writeFileSync(
    join(folder, 'index.html'),
    page('Whetstone', `<p><a href="${newest}/">${newest}</a></p>`, refresh),
  );
}

const page = (title: string, body: string, head = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
${head}
<title>${title}</title>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;
