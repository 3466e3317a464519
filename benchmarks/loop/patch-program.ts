/**
 * `node patch-program.ts <lines> <chunks> <rounds>`: applies a patch whose chunks are spread over a file, with
 * `apply_patch` and with `git apply`. Prints a `PatchTimes` as JSON.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatch, LocalExecutionEnvironment } from '@whetstone/loop';
import { temporaryFolder } from '../temporary-folder.ts';

/** Milliseconds of each round. */
export type PatchTimes = { applyPatch: number[]; gitApply: number[] };

const NAME = 'large.txt';
const CONTEXT = 3;

const [lines = 0, chunks = 0, rounds = 0] = process.argv.slice(2).map(Number);
console.log(JSON.stringify(await measure()));

async function measure(): Promise<PatchTimes> {
  using folder = temporaryFolder();
  const cwd = folder.path;
  const before = Array.from({ length: lines }, (_, index) => lineAt(index));
  const changed = Array.from({ length: chunks }, (_, index) => Math.floor(((index + 0.5) * lines) / chunks));
  const after = before.map((line, index) => (changed.includes(index) ? `${line} changed` : line));
  const [original, expected] = [before, after].map((text) => `${text.join('\n')}\n`) as [string, string];
  const file = join(cwd, NAME);
  const patch = [
    '*** Begin Patch',
    `*** Update File: ${NAME}`,
    ...changed.flatMap((index) => chunkOf(before, index)),
    '*** End Patch',
  ].join('\n');
  const unified = unifiedDiff(cwd, original, expected);
  const environment = new LocalExecutionEnvironment({ workingDirectory: cwd });

  const times: PatchTimes = { applyPatch: [], gitApply: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.applyPatch.push(await time(() => applyPatch(environment, patch)));
    times.gitApply.push(await time(() => git(cwd, ['apply', '-'], unified)));
  }
  return times;

  async function time(apply: () => unknown): Promise<number> {
    writeFileSync(file, original);
    const began = performance.now();
    await apply();
    const elapsed = performance.now() - began;
    if (readFileSync(file, 'utf8') !== expected) throw new Error('the patch was not applied');
    return elapsed;
  }
}

/** Every third line is a brace, as in code, so that a single line does not identify a place. */
function lineAt(index: number): string {
  return index % 3 === 2 ? '}' : `  const value${index} = compute(${Math.imul(index, 2654435761) >>> 0});`;
}

function chunkOf(before: readonly string[], index: number): string[] {
  const line = before[index] ?? '';
  return [
    '@@',
    ...before.slice(Math.max(0, index - CONTEXT), index).map((text) => ` ${text}`),
    `-${line}`,
    `+${line} changed`,
    ...before.slice(index + 1, index + 1 + CONTEXT).map((text) => ` ${text}`),
  ];
}

/** The same change as `git apply` reads it. */
function unifiedDiff(cwd: string, original: string, expected: string): string {
  for (const [folder, text] of [
    ['a', original],
    ['b', expected],
  ] as const)
    writeFileSync(join(cwd, folder), text);
  const diff = git(cwd, ['diff', '--no-index', 'a', 'b'], '');
  return diff
    .replace(/^--- a\/a$/m, `--- a/${NAME}`)
    .replace(/^\+\+\+ b\/b$/m, `+++ b/${NAME}`)
    .replace(/^diff .*\n/, `diff --git a/${NAME} b/${NAME}\n`);
}

function git(cwd: string, args: readonly string[], input: string): string {
  const { stdout, stderr, error } = spawnSync('git', args, {
    cwd,
    input,
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
  });
  if (error ?? stderr) throw error ?? new Error(stderr);
  return stdout;
}
