import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { git } from '../workspace/git.ts';
import { openRepository, resolveCommit } from '../workspace/repository.ts';
import type { Candidate } from './candidate.ts';
import { classifyPath } from './classify-path.ts';
import { type Draft, type FileContent, filesAt, patchBetween, taskIdOf, testsAt } from './draft.ts';
import { type FoundFunction, isParsed, openFunctionFinder } from './find-functions.ts';
import { reachingNames } from './reaching-names.ts';
import type { LeftOut, ScanOptions } from './scan-history.ts';

/** Shorter functions say little by themselves; a file that has only such is taken as a whole. */
const SHORTEST_FUNCTION = 3;

/** Test files of one task. */
const MOST_TESTS = 5;

/** Code that is taken out together. */
type Unit = { file: FileContent; name: string; functions: FoundFunction[]; lines: number };

/** Finds the functions of HEAD that tests name or import, and makes tasks without their code. */
export async function removable(repo: string, { paths = [], maxLines }: ScanOptions) {
  const { gitDir } = await openRepository(repo);
  const base = await resolveCommit(repo, 'HEAD');
  const tests = [...(await filesAt(gitDir, base, [], (path) => classifyPath(path) === 'test')).values()].map(
    readTest,
  );
  const isSource = (path: string) => classifyPath(path) === 'source' && isParsed(path);
  const functionsOf = await openFunctionFinder();
  const candidates: (Candidate & { unit: Unit; rank: number; tests: string[] })[] = [];
  const leftOut: LeftOut[] = [];
  for (const file of (await filesAt(gitDir, base, paths, isSource)).values()) {
    const text = file.content.toString();
    const functions = Buffer.from(text).equals(file.content) ? await functionsOf(file.path, text) : [];
    const units = unitsOf(file, functions);
    if (units.length === 0) leftOut.push({ subject: file.path, reason: 'no function was found in it' });
    for (const [rank, unit] of units.entries()) {
      const subject = `${unit.name} of ${file.path}`;
      const covering = testsOf(unit, tests, reachingNames(unit.functions, functions, text));
      if (unit.lines > maxLines)
        leftOut.push({ subject, reason: `it has ${unit.lines} lines, more than ${maxLines}` });
      else if (covering.length === 0) leftOut.push({ subject, reason: 'no test names or imports it' });
      else {
        const id = idOf(unit, text);
        candidates.push({
          id,
          task: taskIdOf(unit.name, id, 'remove'),
          subject,
          unit,
          rank,
          tests: covering,
        });
      }
    }
  }
  // The largest function of each file first, so that a limit leaves tasks from all over the repository.
  candidates.sort((a, b) => a.rank - b.rank);
  const found = new Map(candidates.map((one) => [one.id, one]));
  return {
    candidates: candidates.map(({ id, task, subject }): Candidate => ({ id, task, subject })),
    leftOut,
    async draft({ id }: Candidate): Promise<Draft | string> {
      const candidate = found.get(id);
      if (!candidate) throw new Error(`no function ${id}`);
      return removalDraft(gitDir, base, candidate);
    },
  };
}

async function removalDraft(
  gitDir: string,
  base: string,
  { task: id, subject, unit, tests: files }: Candidate & { unit: Unit; tests: string[] },
): Promise<Draft | string> {
  const tests = await testsAt(gitDir, base, files);
  if (typeof tests === 'string') return tests;
  const { file, functions } = unit;
  let text = file.content.toString();
  for (const { from, to, instead } of functions.toReversed())
    text = text.slice(0, from) + instead + text.slice(to);
  const start = [{ ...file, content: Buffer.from(text) }];
  const goldPatch = await patchBetween(start, [file]);
  const date = await git(['log', '-1', '--no-show-signature', '--format=%aI', base], { gitDir });
  return {
    ...{ id, method: 'remove', subject, commit: base, base, solved: base, date: date.toString().trim() },
    ...{ start, earlierTests: [], tests, goldPatch, missing: missingIn(unit) },
    testFiles: [...(await filesAt(gitDir, base, files)).values()],
    sources: [{ path: file.path, lines: [...goldPatch.matchAll(/^(\+(?!\+\+ )|-(?!-- ))/gm)].length }],
  };
}

/** Functions of one name can stand in a file twice, so the line is told. The tree says the same at its place. */
function missingIn({ file, name, functions: [first, ...others] }: Unit): string {
  if (others.length > 0) return `The code of the functions in ${file.path}`;
  const line = file.content.toString().slice(0, first?.from).split('\n').length;
  return `The code of ${name} in ${file.path}, line ${line},`;
}

function unitsOf(file: FileContent, functions: readonly FoundFunction[]): Unit[] {
  const long = functions.filter(({ lines }) => lines >= SHORTEST_FUNCTION);
  if (long.length > 0) {
    const sorted = long.toSorted((a, b) => b.lines - a.lines);
    return sorted.map((one) => ({ file, name: one.name, functions: [one], lines: one.lines }));
  }
  if (functions.length === 0) return [];
  const name = posix.basename(file.path, posix.extname(file.path));
  const lines = functions.reduce((sum, one) => sum + one.lines, 0);
  return [{ file, name, functions: [...functions], lines }];
}

/** The same for the same code, wherever HEAD is. */
function idOf({ file, name, functions }: Unit, text: string): string {
  const code = functions.map(({ from, to }) => text.slice(from, to));
  return createHash('sha256')
    .update(JSON.stringify([file.path, name, code]))
    .digest('hex')
    .slice(0, 40);
}

type ReadTest = {
  path: string;
  names: ReadonlySet<string>;
  /** Those of the names that a `(` follows. */
  calls: ReadonlySet<string>;
  imports: ReadonlySet<string>;
};

const IMPORT = /\b(?:from|import|require)\s*\(?\s*['"](\.[^'"]*)['"]/g;
const withoutEnd = (path: string) => path.replace(/\.[cm]?[jt]sx?$/, '').replace(/\/index$/, '');

function readTest({ path, content }: FileContent): ReadTest {
  const text = content.toString();
  const names = new Set(text.match(/[A-Za-z_$][\w$]*/g) ?? []);
  const calls = new Set(text.match(/[A-Za-z_$][\w$]*(?=\s*\()/g) ?? []);
  const folder = posix.dirname(path);
  const imports = [...text.matchAll(IMPORT)].map(([, named = '']) => posix.join(folder, named));
  return { path, names, calls, imports: new Set(imports.map(withoutEnd)) };
}

/**
 * The test files that most likely show what a unit does: those that name it, or else what uses it (`users`), and of them those
 * first that call it: a namespace such as `braces` is named in all of them. Whether they do is for validation to find out.
 */
function testsOf({ file, functions }: Unit, tests: readonly ReadTest[], users: string[] = []): string[] {
  const own = functions.map(({ name }) => name.split('.').at(-1) ?? name);
  const path = withoutEnd(file.path);
  const importing = tests.filter(({ imports }) => imports.has(path));
  const naming = (wanted: string[], from = importing) => {
    const has = (all: ReadonlySet<string>) => wanted.some((name) => name.length > 3 && all.has(name));
    const rank = ({ calls }: ReadTest) => (has(calls) ? 0 : 1);
    return from.filter(({ names }) => has(names)).sort((a, b) => rank(a) - rank(b));
  };
  const groups = [naming(own), naming(users), importing, naming(own, [...tests])];
  const best = groups.find((group) => group.length > 0) ?? [];
  return best.slice(0, MOST_TESTS).map(({ path }) => path);
}
