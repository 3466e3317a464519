import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { type Benchmark, MEBIBYTE, tableOf } from '../benchmark.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { playHostileCases } from './hostile-cases.ts';
import { killRuns } from './killed-runs.ts';
import { type Amount, keepPart, nameOf, type Part, type PartResult, partsOf, playedParts } from './parts.ts';
import { JOBS } from './project.ts';

const WHOLE: Amount = { cases: 2000, heavy: 7, kills: 200 };
const QUICK: Amount = { cases: 60, heavy: 0, kills: 10 };

/** A line per part that was played, so that a soak goes on where it was stopped. */
const PROGRESS = join(import.meta.dirname, '../../.cache/soak/progress.jsonl');

/** Hostile agents in many cases, and a harness that is killed at random moments. */
export const soak: Benchmark = async ({ size, say, cases, heavy, kills }) => {
  const isWhole = size === 'full';
  const wanted = { ...(isWhole ? WHOLE : QUICK), ...present({ cases, heavy, kills }) };
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
  const nothing = { cases: [], kills: 0, mostLost: 0 };
  const came =
    part.kind === 'kills'
      ? await killRuns(folder.path, { signal, say })
      : await playHostileCases(part.kind, folder.path, { signal, say });
  return { ...part, ...nothing, ...came, commit: commit(), seconds: (performance.now() - began) / 1000 };
}

/** An agent, over all its cases. */
type Hostile = {
  subject: string;
  count: number;
  slowest: number;
  peakBytes: number;
  came: Map<string, number>;
};

const COLUMNS = [
  ['cases', '', 0, ({ count }: Hostile) => count],
  [
    'came to',
    '',
    0,
    ({ came }: Hostile) => [...came].map(([what, count]) => `${what} (${count})`).join(', '),
  ],
  ['slowest case', 's', 1, ({ slowest }: Hostile) => slowest],
] as const;

function agentsOf(results: readonly PartResult[], kind: Part['kind']): Hostile[] {
  const all = results.filter((result) => result.kind === kind).flatMap(({ cases }) => cases);
  return [...Map.groupBy(all, ({ agent }) => agent)].map(([subject, own]) => {
    const came = new Map<string, number>();
    for (const [what, count] of own.flatMap((one) => Object.entries(one.came)))
      came.set(what, (came.get(what) ?? 0) + count);
    return {
      ...{ subject, came },
      count: own.reduce((sum, one) => sum + one.count, 0),
      slowest: Math.max(...own.map(({ slowestSeconds }) => slowestSeconds)),
      peakBytes: Math.max(...own.map((one) => one.peakBytes)),
    };
  });
}

function reportOf(results: readonly PartResult[]): Awaited<ReturnType<Benchmark>> {
  const quick = agentsOf(results, 'quick');
  const heavy = agentsOf(results, 'heavy');
  const problems = results.flatMap((result) => result.problems.map((one) => `${nameOf(result)}: ${one}`));
  const filesSeconds = heavy.find(({ subject }) => subject === 'writes-200000-files')?.slowest;
  const caseCount = [...quick, ...heavy].reduce((sum, { count }) => sum + count, 0);
  const kills = results.reduce((sum, one) => sum + one.kills, 0);
  const counted = results.filter(({ midCase }) => midCase !== undefined);
  const countedKills = counted.reduce((sum, one) => sum + one.kills, 0);
  const midCase = counted.reduce((sum, one) => sum + (one.midCase ?? 0), 0);
  const commits = [...new Set(results.map((one) => one.commit))];
  const peakBytes = Math.max(0, ...quick.map((one) => one.peakBytes));
  return {
    method: `${caseCount} cases of hostile agents in the sandbox \`bubblewrap\`, ${JOBS} at a time, and runs of the same agents that were killed with \`kill -9\` at ${kills} random moments and resumed. After each run and each kill: processes, namespaces, control groups, mounts and loop devices of the run, and what is left in its TMPDIR once another run has ended. Each case has to come to what its agent deserves, and each finished case has to be kept.`,
    tables: [
      ...(quick.length === 0 ? [] : [tableOf('Hostile agents', quick, COLUMNS)]),
      ...(heavy.length === 0
        ? []
        : [
            tableOf('Heavy ones, each in a run of its own', heavy, [
              ...COLUMNS,
              ['peak memory of the harness', 'MiB', 0, (one) => one.peakBytes / MEBIBYTE],
            ]),
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
        ? [
            `Resident memory of the harness was at most ${Math.round(peakBytes / MEBIBYTE)} MiB in runs of the first table.`,
          ]
        : []),
      ...(countedKills > 0 ? [`${midCase} of ${countedKills} kills came while cases ran.`] : []),
      ...(kills > countedKills
        ? [`Of ${kills - countedKills} kills it was not counted whether cases ran.`]
        : []),
      `The whole soak has ${WHOLE.cases.toLocaleString('en')} cases, ${WHOLE.heavy} of each heavy agent beside them, and ${WHOLE.kills} kills.`,
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
