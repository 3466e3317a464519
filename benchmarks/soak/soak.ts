import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { type Benchmark, MEBIBYTE, tableOf } from '../benchmark.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { playHostileCases } from './hostile-cases.ts';
import { killRuns } from './killed-runs.ts';
import { keepPart, nameOf, type Part, type PartResult, partsOf, playedParts } from './parts.ts';
import { JOBS } from './project.ts';

const WHOLE = { cases: 2000, kills: 200 };
const QUICK = { cases: 60, kills: 10 };

/** A line per part that was played, so that a soak goes on where it was stopped. */
const PROGRESS = join(import.meta.dirname, '../../.cache/soak/progress.jsonl');

/** Hostile agents in many cases, and a harness that is killed at random moments. */
export const soak: Benchmark = async ({ size, say, cases, kills }) => {
  const isWhole = size === 'full';
  const wanted = { ...(isWhole ? WHOLE : QUICK), ...present({ cases, kills }) };
  const parts = partsOf(wanted);
  const played = isWhole ? playedParts(PROGRESS) : new Map<string, PartResult>();
  using stopping = stopOnSignals();
  const results: PartResult[] = [];
  for (const [index, part] of parts.entries()) {
    const tell = (line: string) => say(`${nameOf(part)} (part ${index + 1} of ${parts.length}): ${line}`);
    const known = played.get(nameOf(part));
    const result = known ?? (await play(part, stopping.signal, tell));
    if (isWhole && !known) keepPart(PROGRESS, result);
    tell(
      `${known ? 'played before, ' : ''}${Math.round(result.seconds)} s, ${result.problems.length} problems`,
    );
    if (!known) for (const problem of result.problems) tell(`problem: ${problem}`);
    results.push(result);
  }
  return reportOf(results);
};

async function play(part: Part, signal: AbortSignal, say: (line: string) => void): Promise<PartResult> {
  using folder = temporaryFolder();
  const began = performance.now();
  const nothing = { cases: [], kills: 0, mostLost: 0, peakBytes: 0 };
  const came =
    part.kind === 'kills'
      ? await killRuns(folder.path, { signal, say })
      : await playHostileCases(part.kind, folder.path, { signal, say });
  return { ...part, ...nothing, ...came, commit: commit(), seconds: (performance.now() - began) / 1000 };
}

function reportOf(results: readonly PartResult[]): Awaited<ReturnType<Benchmark>> {
  const all = results.flatMap(({ cases }) => cases);
  const cases = [...new Set(all.map(({ agent }) => agent))].map((subject) => {
    const own = all.filter(({ agent }) => agent === subject);
    const count = own.reduce((sum, one) => sum + one.count, 0);
    return { subject, count, slowest: Math.max(...own.map(({ slowestSeconds }) => slowestSeconds)) };
  });
  const problems = results.flatMap((result) => result.problems.map((one) => `${nameOf(result)}: ${one}`));
  const filesSeconds = cases.find(({ subject }) => subject === 'writes-200000-files')?.slowest;
  const caseCount = cases.reduce((sum, { count }) => sum + count, 0);
  const kills = results.reduce((sum, one) => sum + one.kills, 0);
  const counted = results.filter(({ midCase }) => midCase !== undefined);
  const countedKills = counted.reduce((sum, one) => sum + one.kills, 0);
  const midCase = counted.reduce((sum, one) => sum + (one.midCase ?? 0), 0);
  const commits = [...new Set(results.map((one) => one.commit))];
  const peakBytes = Math.max(0, ...results.map((one) => one.peakBytes));
  return {
    method: `${caseCount} cases of hostile agents in the sandbox \`bubblewrap\`, ${JOBS} at a time, and runs of the same agents that were killed with \`kill -9\` at ${kills} random moments and resumed. After each run and each kill: processes, namespaces, control groups, mounts and loop devices of the run, and what is left in its TMPDIR once another run has ended. Each case has to come to what its agent deserves, and each finished case has to be kept.`,
    tables:
      caseCount === 0
        ? []
        : [
            tableOf('Hostile agents', cases, [
              ['cases', '', 0, ({ count }) => count],
              ['slowest case', 's', 1, ({ slowest }) => slowest],
            ]),
          ],
    aims: [
      {
        what: 'problems (cases with a wrong end, lost cases, remains)',
        measured: problems.length,
        below: 1,
        unit: '',
        digits: 0,
      },
      {
        what: 'the most cases that one kill cost',
        measured: Math.max(0, ...results.map((one) => one.mostLost)),
        below: JOBS + 1,
        unit: '',
        digits: 0,
      },
      ...(filesSeconds === undefined
        ? []
        : [{ what: 'a case of 200,000 files', measured: filesSeconds, below: 20, unit: 's', digits: 1 }]),
    ],
    notes: [
      ...(peakBytes > 0
        ? [`Resident memory of the harness was at most ${Math.round(peakBytes / MEBIBYTE)} MiB.`]
        : []),
      ...(countedKills > 0 ? [`${midCase} of ${countedKills} kills came while cases ran.`] : []),
      ...(kills > countedKills
        ? [`Of ${kills - countedKills} kills it was not counted whether cases ran.`]
        : []),
      `The whole soak has ${WHOLE.cases.toLocaleString('en')} cases and ${WHOLE.kills} kills.`,
      `Played in ${results.length} parts, at ${commits.length === 1 ? 'the commit' : 'the commits'} ${commits.join(', ')}.`,
      ...problems.slice(0, 20).map((problem) => `Problem: ${problem}`),
    ],
  };
}

/** Ctrl-C ends the run that is played, and what it works in is removed. */
function stopOnSignals(): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => controller.abort(new Error(`The soak was stopped by ${name}.`));
  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.once(name, stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of names) process.off(name, stop);
    },
  };
}

const commit = (): string =>
  execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  }).trim();
