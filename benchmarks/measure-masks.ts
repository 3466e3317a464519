/**
 * `node measure-masks.ts ROUNDS`: prints what it costs to grade the right solution of a task as its runner reports it, and with
 * masked tests, and what hashing and chaining add to a case, as JSON.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openChain } from '../packages/whetstone/src/record/chain.ts';
import { evidenceHashes } from '../packages/whetstone/src/record/file-hashes.ts';
import {
  type MaskedProject,
  openMaskedRoom,
} from '../packages/whetstone/src/verify/__fixtures__/masked-room.ts';
import { folderState } from '../packages/whetstone/src/workspace/folder-state.ts';
import { enterPrivateMountNamespace } from '../packages/whetstone/src/workspace/mount-namespace.ts';
import { median } from './benchmark.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Medians of the rounds. `calibrationSeconds`: once per task. */
export type MaskFigures = {
  subject: string;
  reportSeconds: number;
  maskedSeconds: number;
  calibrationSeconds: number;
};
export type MaskMeasurements = {
  figures: MaskFigures[];
  /** Per case: sha256 of its evidence, and a look at the hidden tests. Per row: its line of the journal, as it is and chained. */
  records: { evidenceMs: number; evidenceMib: number; hiddenMs: number; plainUs: number; chainedUs: number };
};

const TESTS = 100;
const FILES = 4;
const MIB = 2 ** 20;

enterPrivateMountNamespace();
const rounds = Number(process.argv[2] ?? 1);
using folder = temporaryFolder();
// What calibration found is not taken from an earlier measurement.
process.env.XDG_CACHE_HOME = join(folder.path, 'cache');
const figures: MaskFigures[] = [];
for (const project of projects()) figures.push(await measureGrading(project));
console.log(
  JSON.stringify({ figures, records: await measureRecords(folder.path) } satisfies MaskMeasurements),
);

function projects(): MaskedProject[] {
  const asked = Array.from({ length: TESTS / FILES }, (_, one) => ({
    one,
    call: `add(${one}, ${2 * one})`,
    sum: 3 * one,
  }));
  const hidden = (
    name: (file: number) => string,
    head: string,
    body: (one: (typeof asked)[number]) => string,
  ) =>
    Object.fromEntries(
      Array.from({ length: FILES }, (_, file) => [name(file), `${head}\n${asked.map(body).join('\n')}\n`]),
    );
  const wrong = 'export const add = () => 0;\n';
  const javascript = {
    files: { 'package.json': '{"type":"module"}\n', 'add.js': wrong },
    solution: { 'add.js': 'export const add = (a, b) => a + b;\n' },
  };
  const name = (file: number) => `test/add-${file}.test.js`;
  const imported = "import { add } from '../add.js';";
  const found: MaskedProject[] = [
    {
      ...{ runner: 'node-test', ...javascript },
      hidden: hidden(
        name,
        `import { equal } from 'node:assert/strict';\nimport { test } from 'node:test';\n${imported}`,
        ({ one, call, sum }) => `test('adds ${one}', () => equal(${call}, ${sum}));`,
      ),
    },
    {
      ...{ runner: 'vitest', ...javascript },
      setup: `ln -s '${join(import.meta.dirname, '../node_modules')}' node_modules`,
      hidden: hidden(
        name,
        `import { expect, test } from 'vitest';\n${imported}`,
        ({ one, call, sum }) => `test('adds ${one}', () => { expect(${call}).toBe(${sum}); });`,
      ),
    },
  ];
  const python: MaskedProject = {
    runner: 'pytest',
    files: { 'add.py': 'def add(a, b):\n    return 0\n' },
    solution: { 'add.py': 'def add(a, b):\n    return a + b\n' },
    hidden: hidden(
      (file) => `tests/test_add_${file}.py`,
      'from add import add',
      ({ one, call, sum }) => `def test_${one}():\n    assert ${call} == ${sum}`,
    ),
  };
  const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0;
  return hasPytest ? [...found, python] : found;
}

async function measureGrading(project: MaskedProject): Promise<MaskFigures> {
  const opening = performance.now();
  {
    await using _ = await openMaskedRoom({ ...project, masks: 'off' });
  }
  const opened = performance.now();
  await using room = await openMaskedRoom(project);
  const calibrated = performance.now();
  const seconds: Record<'report' | 'masked', number[]> = { report: [], masked: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const kind of ['report', 'masked'] as const) {
      const start = performance.now();
      const { validation, failure } = await room.judgeFiles(project.solution, {
        isMasked: kind === 'masked',
      });
      if (validation !== 'passed') throw new Error(`${project.runner}, ${kind}: ${failure}`);
      seconds[kind].push((performance.now() - start) / 1000);
    }
  return {
    subject: project.runner,
    reportSeconds: median(seconds.report),
    maskedSeconds: median(seconds.masked),
    // Without what opening a room takes.
    calibrationSeconds: Math.max(0, calibrated - opened - (opened - opening)) / 1000,
  };
}

/** A case with 8 MiB of events and 2 MiB of model calls, 200 hidden files, and rows of 4 KiB. */
async function measureRecords(work: string): Promise<MaskMeasurements['records']> {
  const directory = join(work, 'case');
  const hidden = join(work, 'hidden');
  for (const one of [directory, hidden]) mkdirSync(one);
  writeFileSync(join(directory, 'events.jsonl'), Buffer.alloc(8 * MIB, 'event\n'));
  writeFileSync(join(directory, 'model-calls.jsonl'), Buffer.alloc(2 * MIB, 'call\n'));
  for (let file = 0; file < 200; file += 1) writeFileSync(join(hidden, `${file}.test.js`), 'x'.repeat(4000));
  const row = { type: 'case.finished', row: { text: 'x'.repeat(4000) } };
  const lines = 2000;
  const times: Record<'evidence' | 'hidden' | 'plain' | 'chained', number[]> = {
    ...{ evidence: [], hidden: [], plain: [], chained: [] },
  };
  const timed = async (name: keyof typeof times, work: () => unknown) => {
    const start = performance.now();
    await work();
    times[name].push(performance.now() - start);
  };
  for (let round = 0; round < Math.max(3, rounds); round += 1) {
    await timed('evidence', () => evidenceHashes(directory));
    await timed('hidden', () => folderState([hidden]));
    await timed('plain', () => {
      for (let line = 0; line < lines; line += 1) JSON.stringify({ ...row, line });
    });
    await timed('chained', () => {
      const chain = openChain('start');
      for (let line = 0; line < lines; line += 1) chain.add({ ...row, line });
    });
  }
  return {
    evidenceMs: median(times.evidence),
    evidenceMib: 10,
    hiddenMs: median(times.hidden),
    plainUs: (median(times.plain) * 1000) / lines,
    chainedUs: (median(times.chained) * 1000) / lines,
  };
}
