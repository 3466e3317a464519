import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RunList } from './api.ts';
import { readCaseFile } from './case-files.ts';
import { caseDetail, type LoadedRun, readableEntry } from './load-runs.ts';
import { type PageFile, pageFiles } from './page-files.ts';

/** Of each file of a case. The page says what is left out. */
const LIMIT_BYTES = 128 * 1024;

/**
 * A run as one HTML file: the page of `whetstone view` with its modules, styles and fonts, and the answers of the server about
 * this run and each of its cases. It opens from a disk and loads nothing. Comes in parts, because a run can have more
 * cases than a string has room for.
 * @throws WhetstoneError `view-files-missing`
 */
export async function* oneFilePage(loaded: LoadedRun): AsyncGenerator<string> {
  const { run, detail } = loaded;
  const list: RunList = { runs: [readableEntry(detail)], older: 0 };
  const [head, foot] = await pageAround();
  yield head;
  yield await data('runs', list);
  yield await data('run', detail);
  for (const [caseId] of detail.cases.lines) {
    const recorded = { runDirectory: run.directory, caseId, row: run.rows.get(caseId) ?? null };
    const found = await caseDetail(loaded, caseId);
    const files = await Promise.all(
      (found?.files ?? []).map(({ name }) => readCaseFile(recorded, name, LIMIT_BYTES)),
    );
    yield await data(`case ${caseId}`, {
      detail: found,
      files: Object.fromEntries(files.flatMap((file) => (file ? [[file.name, file]] : []))),
    });
  }
  yield foot;
}

const compress = promisify(gzip);

/** A block that no browser runs. Base64, so that no text of a run can end it. */
async function data(name: string, value: unknown): Promise<string> {
  const content = (await compress(JSON.stringify(value))).toString('base64');
  return `<script type="application/gzip" data-part="${Buffer.from(name).toString('base64')}">${content}</script>\n`;
}

/** The page before and after the data. Only scripts and styles with its nonce count, and modules that those import. */
async function pageAround(): Promise<[string, string]> {
  const files = pageFiles();
  const nonce = randomBytes(16).toString('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const imports: Record<string, string> = {};
  for (const [name, file] of files) {
    if (name.endsWith('.js'))
      imports[`page:${name}`] = dataUrl(file, Buffer.from(await moduleText(name, file)));
  }
  const index = files.get('index.html');
  const html = index === undefined ? '' : await readFile(index.path, 'utf8');
  const styles = [...html.matchAll(/<link rel="stylesheet" href="\/(?<name>[^"]+)" \/>/g)];
  const css = await Promise.all(styles.map(({ groups }) => styleText(files, groups?.name ?? '')));
  const script = [
    `<script type="importmap" nonce="${nonce}">${JSON.stringify({ imports })}</script>`,
    `<script type="module" nonce="${nonce}">import 'page:view.js';</script>`,
  ].join('\n');
  const page = html
    .replace(/\s*<link rel="stylesheet" [^>]*>/g, '')
    .replace(
      /<script type="module" src="\/view.js"><\/script>/,
      () => `<style nonce="${nonce}">${css.join('\n')}</style>`,
    )
    .replace(
      '<meta charset="utf-8" />',
      () => `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    );
  const [before = '', after = ''] = page.split('</body>');
  // The modules run when everything above them is there.
  return [before, `${script}\n  </body>${after}`];
}

/** A module has no address in a file, so that its imports name others by `page:`. */
async function moduleText(name: string, { path }: PageFile): Promise<string> {
  const text = await readFile(path, 'utf8');
  return text.replace(
    /(?<how>from |import\()'(?<target>\.[^']+\.js)'/g,
    (_, how: string, target: string) => `${how}'page:${posix.join(posix.dirname(name), target)}'`,
  );
}

async function styleText(files: ReadonlyMap<string, PageFile>, name: string): Promise<string> {
  const style = files.get(name);
  let text = style === undefined ? '' : await readFile(style.path, 'utf8');
  for (const [url, font] of text.matchAll(/url\("\/(?<name>[^"]+)"\)/g)) {
    const file = files.get(font ?? '');
    if (file) text = text.replace(url, `url("${dataUrl(file, await readFile(file.path))}")`);
  }
  return text;
}

const dataUrl = ({ contentType }: PageFile, content: Buffer): string =>
  `data:${contentType.replace('; ', ';')};base64,${content.toString('base64')}`;
