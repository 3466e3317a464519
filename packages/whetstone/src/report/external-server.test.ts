import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pico from 'picocolors';
import { afterAll, expect, test } from 'vitest';
import { renderComment } from '../ci/comment.ts';
import { measuredOf } from '../ci/measured.ts';
import { exportRun } from '../export/export-run.ts';
import { caseLayout, runLayout } from '../record/layout.ts';
import { reportRun } from '../run/write-report.ts';
import { sampleManifest, sampleRows } from './__fixtures__/sample-run.ts';
import { compareRuns } from './compare-runs.ts';
import { renderCsv } from './csv.ts';
import { renderJson } from './json.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';
import { renderCase, renderRun } from './render-case.ts';
import { renderComparison } from './render-comparison.ts';

const directory = mkdtempSync(join(tmpdir(), 'external-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const plain = { colors: pico.createColors(false), width: 80 };
const SAID = /reproducibility/;
const EXTERNAL = /reproducibility\W+(?:value\W+)?(?:stringValue\W+)?external/;

/** A run whose agents worked on a server of the user, or on none. */
function runOf(isExternal: boolean) {
  const manifest = sampleManifest({ trials: 2 });
  const rows = sampleRows(manifest, () => 'passed').map((row) =>
    isExternal ? { ...row, reproducibility: 'external' as const } : row,
  );
  return { manifest, rows };
}

/** Everything that Whetstone writes about a run, by what it is. */
async function outputsOf(isExternal: boolean): Promise<Record<string, string>> {
  const { manifest, rows } = runOf(isExternal);
  const byCase = new Map(rows.map((row) => [row.case_id, row]));
  const run = reportRun({ directory: join(directory, `${isExternal}`), manifest, rows: byCase });
  const { summary, ordered } = run;
  const [first] = ordered;
  if (!first) throw new Error('There is no row.');
  const job = { run_id: manifest.run_id, kind: 'context' as const, what: ['AGENTS.md'], pairs: [] };
  const sides = [
    { label: 'a', manifest, rows: ordered, variant: 'baseline' },
    { label: 'b', manifest, rows: ordered, variant: 'agents-md' },
  ] as const;
  const comparison = compareRuns(...sides);
  for (const row of ordered) {
    const { events } = caseLayout(runLayout(run.directory).case(row.case_id));
    mkdirSync(dirname(events), { recursive: true });
    writeFileSync(events, '{"type":"message","role":"assistant","text":"Done."}\n');
  }
  const exported = async (format: 'atif' | 'inspect' | 'otlp') => {
    const folder = join(run.directory, format);
    await exportRun(run, format, folder);
    const [file = ''] = readdirSync(folder);
    return readFileSync(join(folder, file), 'utf8');
  };
  return {
    terminal: renderRun(summary, ordered, plain).replaceAll(/\s+/g, ' '),
    'one case': renderCase(first, run.directory, plain),
    Markdown: renderMarkdown(summary, manifest, ordered),
    // The column has that name.
    CSV: /,external(?:,|$)/m.test(renderCsv(ordered)) ? 'reproducibility: external' : '',
    JSON: renderJson(summary, ordered),
    JUnit: renderJunit([{ summary, manifest, rows: ordered, logTail: () => '' }]),
    'comment of a pull request': renderComment([{ job, summary, measured: measuredOf(run, job) }], null, {}),
    comparison: renderComparison(comparison, plain).replaceAll(/\s+/g, ' '),
    'comparison as JSON': JSON.stringify(comparison),
    ATIF: await exported('atif'),
    Inspect: await exported('inspect'),
    OpenTelemetry: await exported('otlp'),
  };
}

test('every output of a run on a server of the user says that it cannot be reproduced, and no other does', async () => {
  const silent = Object.entries(await outputsOf(true)).filter(([, text]) => !EXTERNAL.test(text));
  expect(silent.map(([name]) => name)).toEqual([]);
  const wrong = Object.entries(await outputsOf(false)).filter(([, text]) => SAID.test(text));
  expect(wrong.map(([name]) => name)).toEqual([]);
});
