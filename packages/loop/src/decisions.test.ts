import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** Rows of the table: number, decision, what shows it. */
async function readRows(): Promise<{ number: number; shown: string }[]> {
  const document = new URL('../../../docs/loop/decisions.md', import.meta.url);
  const lines = (await readFile(document, 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const [, number, , shown] = line.split(/\s*\|\s*/);
    return /^\d+$/.test(number ?? '') ? [{ number: Number(number), shown: shown ?? '' }] : [];
  });
}

test('the list of decisions is whole, and each test that it names exists', async () => {
  const rows = await readRows();
  expect(rows.map((row) => row.number)).toEqual(Array.from({ length: 67 }, (_, index) => index + 1));
  const missing: string[] = [];
  for (const { number, shown } of rows) {
    for (const [, file = '', titles = ''] of shown.matchAll(/`([\w/-]+\.test\.ts)`((?:[ ,]*"[^"]+")*)/g)) {
      const source = await readFile(new URL(file, import.meta.url), 'utf8').catch(() => '');
      if (source === '') missing.push(`${number}: ${file}`);
      for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g)) {
        if (!title.split('…').every((part) => source.includes(part.trim())))
          missing.push(`${number}: ${title}`);
      }
    }
  }
  expect(missing).toEqual([]);
});
