import { stripVTControlCharacters } from 'node:util';
import pico from 'picocolors';
import { describe, expect, test } from 'vitest';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import {
  hostileRun,
  sampleExposure,
  sampleManifest,
  sampleRow,
  sampleRows,
  sampleRun,
} from './__fixtures__/sample-run.ts';
import { renderContextEvalCsv } from './context-eval-csv.ts';
import { renderCsv } from './csv.ts';
import { renderJson } from './json.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';
import { renderCase, renderRun } from './render-case.ts';
import { summarize } from './summarize.ts';
import { renderTerminal } from './terminal.ts';

type Run = { manifest: Manifest; rows: CaseRow[] };

const plain = { colors: pico.createColors(false), width: 80 };
const coloured = { colors: pico.createColors(true), width: 80 };

/** Every output of a run, by the file that it is compared with. */
const OUTPUTS: Record<string, (run: Run) => string> = {
  'run.txt': ({ manifest, rows }) => renderRun(summarize(manifest, rows), rows, plain),
  'report.md': ({ manifest, rows }) => renderMarkdown(summarize(manifest, rows), manifest, rows),
  'results.csv': ({ rows }) => renderCsv(rows),
  'junit.xml': ({ manifest, rows }) =>
    renderJunit([
      {
        ...{ summary: summarize(manifest, rows), manifest, rows },
        logTail: (row) => `not ok 1 - ${row.task_id}\n  expected <1> & got "2"`,
      },
    ]),
};

function oneTask(): Run {
  const manifest = sampleManifest({ trials: 2 });
  return {
    manifest,
    rows: sampleRows(manifest, ({ variant }) => (variant === 'baseline' ? 'failed' : 'passed')),
  };
}

function nothingFinished(): Run {
  return { manifest: sampleManifest({ tasks: ['one', 'two'] }), rows: [] };
}

function allErrors(): Run {
  const manifest = sampleManifest({ tasks: ['one', 'two'] });
  return { manifest, rows: sampleRows(manifest, () => 'error') };
}

describe.each(Object.entries({ sample: sampleRun(), hostile: hostileRun() }))('the %s run', (name, run) => {
  test.each(Object.entries(OUTPUTS))('%s', async (file, render) => {
    await expect(render(run)).toMatchFileSnapshot(`__fixtures__/${name}.${file}`);
  });
});

describe.each(Object.entries({ oneTask, nothingFinished, allErrors }))('%s', (name, run) => {
  test('on the terminal', async () => {
    const { manifest, rows } = run();
    const text = renderTerminal(summarize(manifest, rows), rows, plain);
    await expect(`${text}\n`).toMatchFileSnapshot(`__fixtures__/${name}.run.txt`);
  });

  test('in every other output', () => {
    for (const render of Object.values(OUTPUTS))
      expect(render(run())).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });
});

describe('a case', () => {
  test('that failed', async () => {
    const [planned] = sampleManifest().case_matrix;
    const row = sampleRow(planned ?? expect.fail(), 'failed', {
      protected_paths_touched: ['test/hidden.test.js'],
      hard_evaluation: [
        { name: 'no new dependency', status: 'passed', evidence: 'package.json is unchanged' },
      ],
      hard_evaluation_status: 'passed',
      touched_paths: Array.from({ length: 30 }, (_, i) => `src/file-${i}.js`),
      exposure: sampleExposure(),
      auth: 'login',
      provider_wait_seconds: 2.5,
      unportable_paths: ['vendor/module'],
    });
    await expect(`${renderCase(row, '/runs/one/cases/case-0-0-0-1', plain)}\n`).toMatchFileSnapshot(
      '__fixtures__/case.txt',
    );
  });

  test('of which little is known shows no number for it', () => {
    const [planned] = sampleManifest().case_matrix;
    const row = sampleRow(planned ?? expect.fail(), 'error', {
      agent_duration_seconds: null,
      agent_exit_code: null,
      usage_source: 'none',
      total_tokens: null,
      cost_usd: null,
      model_calls: null,
      tool_calls: null,
      models: [],
    });
    const text = renderCase(row, 'cases/x', plain);
    expect(text).toMatch(/tokens +–\n/);
    expect(text).toMatch(/cost +–\n/);
    expect(text).not.toMatch(/null|NaN|stdout\.log/);
  });
});

describe('whatever the names and the evidence are', () => {
  const { manifest, rows } = hostileRun();
  const summary = summarize(manifest, rows);

  test.each(Object.entries(OUTPUTS))('%s holds nothing that a terminal acts on', (_, render) => {
    const text = render({ manifest, rows });
    expect(text.replaceAll('\r\n', '\n')).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
  });

  test('JSON keeps everything, escaped', () => {
    const json = renderJson(summary, rows);
    expect(json).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    expect(JSON.parse(json)).toMatchObject(JSON.parse(JSON.stringify({ summary, cases: rows })));
  });

  test('the terminal stays within its columns, but for paths', () => {
    for (const width of [40, 60, 80, 120]) {
      const lines = renderTerminal(summary, rows, { ...plain, width }).split('\n');
      const wide = lines.filter((line) => columnsOf(line) > width && !line.includes('verify/'));
      expect(wide).toEqual([]);
    }
  });

  test('colours come only from the caller', () => {
    const text = renderTerminal(summary, rows, coloured);
    expect(text).toContain('\u001b[1m');
    expect(stripVTControlCharacters(text)).toBe(renderTerminal(summary, rows, plain));
  });

  test('every Markdown table row has the cells of its head', () => {
    const tables = renderMarkdown(summary, manifest, rows).matchAll(/(?:^\|.*\n)+/gm);
    for (const [table] of tables) {
      const cells = table
        .trimEnd()
        .split('\n')
        .map((line) => line.match(/(?<!\\)\|/g)?.length);
      expect(new Set(cells).size).toBe(1);
    }
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\r=1', '＝1', '＋1', '－1', '＠x'])(
    'CSV makes %j inert, and no number',
    (id) => {
      const [planned] = sampleManifest().case_matrix;
      const row = sampleRow(planned ?? expect.fail(), 'failed', { task_id: id, agent_exit_code: -1 });
      const cell = `'${id.replace('\r', '\n')}`;
      for (const text of [renderCsv([row]), renderContextEvalCsv([row])])
        expect(text.includes(`,${cell},`) || text.includes(`,"${cell}",`)).toBe(true);
      expect(renderCsv([row])).toContain(',-1,');
    },
  );

  test('CSV reads back with a field for each column, and no field is a formula', () => {
    const [head, ...lines] = parseCsv(renderCsv(rows));
    expect(lines).toHaveLength(rows.length);
    for (const line of lines) {
      expect(line).toHaveLength(head?.length ?? 0);
      for (const field of line) expect(field).not.toMatch(/^[=+@\-\t\n](?!\d)/);
    }
    const task = head?.indexOf('task_id') ?? -1;
    expect(lines[0]?.[task]).toBe('\'=HYPERLINK("http://evil.example","click")');
  });

  test('JUnit is well-formed XML', () => {
    const run = { summary, manifest, rows, logTail: () => ']]>\u0000\u001b[31m<&>\uffff' };
    expect(openElements(renderJunit([run]))).toEqual([]);
  });
});

test('JUnit has a test case for each planned case, and its counts add up', () => {
  const { manifest, rows } = sampleRun();
  const xml = OUTPUTS['junit.xml']?.({ manifest, rows }) ?? '';
  const count = (pattern: RegExp) => xml.match(pattern)?.length ?? 0;
  expect(count(/<testcase /g)).toBe(manifest.case_count);
  expect(count(/<testsuite /g)).toBe(4);
  expect(xml).toContain(
    `tests="56" failures="${count(/<failure /g)}" errors="${count(/<error /g)}" skipped="${count(/<skipped /g)}"`,
  );
  expect(count(/<error type="provider-outage" message="The model answered 503 three times\."/g)).toBe(1);
  expect(openElements(xml)).toEqual([]);
});

test('a narrow terminal gets fewer columns, and the rates always', () => {
  const { manifest, rows } = sampleRun();
  const head = (width: number) =>
    renderTerminal(summarize(manifest, rows), rows, { ...plain, width })
      .match(/^ +variant .*$/m)?.[0]
      .trim()
      .split(/ {2,}/);
  expect(head(80)).toEqual([
    'variant',
    'pass rate',
    'passed',
    'missing',
    'bounds',
    'time',
    'cost',
    'tokens',
    'files',
  ]);
  expect(head(40)).toEqual(['variant', 'pass rate', 'passed']);
});

/** Columns of a terminal: two for the characters of East Asian scripts. */
function columnsOf(line: string): number {
  return Array.from(line).reduce((sum, character) => sum + (/[\u2e80-\u9fff]/.test(character) ? 2 : 1), 0);
}

/** RFC 4180, as a reader has it. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [[]];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === '\r\n') records.push([]);
  }
  return records.slice(0, -1);
}

/** Elements still open at the end of an XML text; fails on what XML does not allow. */
function openElements(xml: string): string[] {
  expect(xml).not.toMatch(/[^\P{Cc}\n\t]|[\ufffe\uffff]/u);
  const open: string[] = [];
  const markup =
    /<(\/?)([a-z]+)((?: [a-z_]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)(\/?)>|<\?xml[^>]*\?>|&(?:amp|lt|gt|quot);|[<&]|\]\]>/g;
  for (const [token, isEnd, name, , isEmpty] of xml.matchAll(markup)) {
    if (name === undefined) expect(token).toMatch(/^<\?xml|^&.+;$/);
    else if (isEnd) expect(open.pop()).toBe(name);
    else if (!isEmpty) open.push(name);
  }
  return open;
}
