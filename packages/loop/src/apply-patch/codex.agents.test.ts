import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';
import { plainPunctuation } from '../files/text-file.ts';
import { type PatchCase, patchCases } from './__fixtures__/patch-cases.ts';
import { applyPatch } from './apply-patch.ts';

/**
 * Our `apply_patch` against the released one: the same generated patches on the same files. Both have to accept or refuse
 * alike, and leave the same bytes. The differences that we want are listed below, and in docs/loop/tools.md.
 */
const root = path.join(import.meta.dirname, '../../../..');
const PATCHES = 500;
const SEED = 20_261_121;

let folder = '';
let program = '';
beforeAll(async () => {
  const { installAgents } = await import(path.join(root, 'examples/real-agents/install.ts'));
  folder = mkdtempSync(path.join(tmpdir(), 'whetstone-patches-'));
  // The binary is many programs. The name that it is called by chooses one.
  program = path.join(folder, 'apply_patch');
  symlinkSync(path.join(await installAgents(), 'codex'), program);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `theirs` or `ours`: who accepts a patch that the other one refuses; `files`: both accept and leave different files. */
type Difference = { name: string; kind: 'ours' | 'theirs' | 'files'; applies: (given: PatchCase) => boolean };

const DIFFERENCES: readonly Difference[] = [
  {
    name: 'stacked contexts',
    kind: 'ours',
    applies: ({ patch }) =>
      patchLines(patch).some((line, index, all) => isContext(line) && isContext(all[index + 1])),
  },
  {
    name: 'context repeated as first line',
    kind: 'ours',
    applies: ({ patch }) =>
      patchLines(patch).some((line, index, all) => {
        const next = all.slice(index + 1).find((following) => !following.startsWith('+'));
        return line.startsWith('@@ ') && next !== undefined && plain(next.slice(1)) === plain(line.slice(3));
      }),
  },
  {
    name: 'two sections on one path',
    kind: 'theirs',
    applies: ({ patch }) => {
      const paths = patchLines(patch).flatMap((line) => /^\*\*\* \w+ File: (.*)$/.exec(line)?.[1] ?? []);
      return new Set(paths).size < paths.length;
    },
  },
  {
    name: 'move onto itself',
    kind: 'files',
    applies: ({ patch }) => /^\*\*\* Update File: (.*)\n\*\*\* Move to: \1$/m.test(patch),
  },
  {
    name: 'nothing to look for but a blank line that is not there',
    kind: 'files',
    applies: ({ patch }) =>
      /^(?:@@|\*\*\* (?:Update File|Move to): .*)(?:\n\+.*)*\n[ -]?(?=\n)(?:\n\+.*)*\n(?:@@|\*\*\*|\n)/m.test(
        patch,
      ),
  },
];

function patchLines(patch: string): string[] {
  return patch.split('\n');
}

function isContext(line: string | undefined): boolean {
  return line === '@@' || line?.startsWith('@@ ') === true;
}

/** As the laxest comparison of lines sees it. */
function plain(line: string): string {
  return plainPunctuation(line).trim();
}

type Outcome = { accepted: boolean; files: Record<string, string>; message: string };

function runTheirs({ files, patch }: PatchCase, name: string): Outcome {
  const directory = writeCase(files, name);
  const result = spawnSync(program, { cwd: directory, input: patch, encoding: 'utf8' });
  return { accepted: result.status === 0, files: readCase(directory), message: result.stderr.trim() };
}

async function runOurs({ files, patch }: PatchCase, name: string): Promise<Outcome> {
  const directory = writeCase(files, name);
  const environment = new LocalExecutionEnvironment({ workingDirectory: directory });
  const message = await applyPatch(environment, patch).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { accepted: message === undefined, files: readCase(directory), message: message ?? '' };
}

function writeCase(files: Readonly<Record<string, string>>, name: string): string {
  const directory = path.join(folder, name);
  mkdirSync(directory);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), content);
  }
  return directory;
}

function readCase(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file): [string, string] => [path.relative(directory, file), readFileSync(file, 'utf8')])
      .toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}

function differenceOf(theirs: Outcome, ours: Outcome): Difference['kind'] | undefined {
  if (theirs.accepted !== ours.accepted) return ours.accepted ? 'ours' : 'theirs';
  // Refused in the middle, the released program leaves the first sections applied; we write nothing.
  if (!ours.accepted) return undefined;
  return JSON.stringify(theirs.files) === JSON.stringify(ours.files) ? undefined : 'files';
}

test(`${PATCHES} patches`, async () => {
  const cases = fc.sample(patchCases, { numRuns: PATCHES, seed: SEED });
  const unexplained: unknown[] = [];
  const seen = new Map<string, number>();
  let accepted = 0;
  for (const [index, given] of cases.entries()) {
    const theirs = runTheirs(given, `theirs-${index}`);
    const ours = await runOurs(given, `ours-${index}`);
    if (theirs.accepted && ours.accepted) accepted += 1;
    if (!ours.accepted) expect(ours.files).toEqual(sorted(given.files));
    const kind = differenceOf(theirs, ours);
    if (kind === undefined) continue;
    const known = DIFFERENCES.find((difference) => difference.kind === kind && difference.applies(given));
    if (known) seen.set(known.name, (seen.get(known.name) ?? 0) + 1);
    else unexplained.push({ ...given, theirs, ours });
  }
  expect(unexplained).toEqual([]);
  // The generator has to reach both outcomes, and each difference of the list, or the list is out of date.
  expect(accepted).toBeGreaterThan(PATCHES / 5);
  expect(accepted).toBeLessThan((PATCHES * 9) / 10);
  expect([...seen.keys()].toSorted()).toEqual(DIFFERENCES.map(({ name }) => name).toSorted());
});

function sorted(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
