import { present } from '@whetstone/events/present';
import type { TestReport } from '../verify/tests/test-runner.ts';
import type { Refusal } from './refusal.ts';

/** Starts counting the runs of one draft: its second run of a file takes the second result that any draft got for it. */
export type SolvedRuns = () => RunSolved;

/** Runs test files of a solved tree, except for those that an earlier run with the same key has run. */
export type RunSolved = (
  key: string,
  files: readonly string[],
  run: (files: string[]) => Promise<TestReport | Refusal>,
) => Promise<TestReport | Refusal>;

/** A run of a file. `id`: names what it depends on, the file, and how often its draft had it run before. */
type Slot = { id: string; file: string };

/** Of many tasks the same tree is the solution: HEAD. What its test files do there is found out once. */
export function openSolvedRuns(): SolvedRuns {
  /** `undefined`: the run has no report, or not one for each file. */
  const ofFiles = new Map<string, Promise<TestReport | undefined>>();
  const ofSets = new Map<string, Promise<TestReport | Refusal>>();

  async function runOnce(slots: Slot[], run: Parameters<RunSolved>[2]): Promise<TestReport | Refusal> {
    const key = JSON.stringify(slots.map(({ id }) => id));
    const earlier = await ofSets.get(key);
    // A tree that could not be set up says nothing about the next one.
    if (earlier && !('refused' in earlier)) return earlier;
    const files = slots.map(({ file }) => file);
    const running = run(files);
    ofSets.set(key, running);
    const split = running.then(
      (report) => ('refused' in report ? undefined : byFile(report, files)),
      () => undefined,
    );
    for (const { id, file } of slots)
      ofFiles.set(
        id,
        split.then((reports) => reports?.get(file)),
      );
    return running;
  }

  return () => {
    const rounds = new Map<string, number>();
    const slotOf = (key: string, file: string): Slot => {
      const name = JSON.stringify([key, file]);
      const round = rounds.get(name) ?? 0;
      rounds.set(name, round + 1);
      return { id: `${round} ${name}`, file };
    };
    return async (key, files, run) => {
      const slots = files.map((file) => slotOf(key, file));
      const found = await Promise.all(slots.map(({ id }) => ofFiles.get(id)));
      const missing = slots.filter((_, index) => !found[index]);
      const known = found.filter((report) => report !== undefined);
      if (missing.length === 0) return merged(known);
      const report = await runOnce(missing, run);
      return 'refused' in report ? report : merged([...known, report]);
    };
  };
}

/** A report for each file; `undefined` where it cannot be told to which file a test or a problem belongs. */
function byFile(report: TestReport, files: readonly string[]): Map<string, TestReport> | undefined {
  const { problems, tests, counts, messages, ...facts } = report;
  const fileOf = (id: string) =>
    files.find((file) => id.startsWith(`${file} > `) || id.startsWith(`${file}::`));
  const groups = Map.groupBy(tests.keys(), fileOf);
  if (problems.length > 0 || groups.has(undefined)) return undefined;
  return new Map(
    files.map((file) => {
      const ids = new Set(groups.get(file));
      const of = <T>(all: ReadonlyMap<string, T>) => new Map([...all].filter(([id]) => ids.has(id)));
      const parts = present({ counts: counts && of(counts), messages: messages && of(messages) });
      return [file, { ...facts, ...parts, tests: of(tests), problems }];
    }),
  );
}

function merged(reports: readonly TestReport[]): TestReport {
  const all = <T>(mapOf: (report: TestReport) => ReadonlyMap<string, T> | undefined) =>
    new Map(reports.flatMap((report) => [...(mapOf(report) ?? [])]));
  return Object.assign({}, ...reports, {
    tests: all(({ tests }) => tests),
    counts: all(({ counts }) => counts),
    messages: all(({ messages }) => messages),
    problems: [...new Set(reports.flatMap(({ problems }) => problems))],
  });
}
