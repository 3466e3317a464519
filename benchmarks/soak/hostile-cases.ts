import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HEAVY, type HostileAgent, QUICK } from './hostile-agents.ts';
import { type Seen, seenOf, untilGone } from './left-behind.ts';
import { CASES_PER_PART, type PartResult } from './parts.ts';
import {
  entriesOf,
  makeProject,
  type Project,
  type Row,
  type Run,
  remains,
  rowsOf,
  startRun,
} from './project.ts';

/** `limitMs`: what a run that does not end is ended after. */
const KINDS = {
  quick: {
    agents: QUICK,
    limits: { memory_mb: 256, processes: 120, cpus: 1, disk_mb: 100 },
    timeoutSeconds: 60,
    limitMs: 30 * 60_000,
  },
  heavy: {
    agents: HEAVY,
    limits: { memory_mb: 2000, processes: 120, cpus: 1, disk_mb: 12_000 },
    // On a machine with other work an agent takes minutes for what it does in seconds.
    timeoutSeconds: 900,
    limitMs: 60 * 60_000,
  },
} as const;

/** What the runs that are killed work with. A bomb of memory is killed by its limit before anybody else can. */
export const KILLED_AGENTS: Readonly<Record<string, HostileAgent>> = Object.fromEntries(
  Object.entries(QUICK).filter(([name]) => name !== 'memory-bomb'),
);
export const KILLED_SETTINGS = {
  limits: KINDS.quick.limits,
  timeoutSeconds: KINDS.quick.timeoutSeconds,
  tasks: 5,
};

export type Played = Pick<PartResult, 'cases' | 'problems'>;

type PlayOptions = { signal: AbortSignal; say: (line: string) => void };

/** Plays agents, the heavy ones each in a run of its own, so that its time and the memory are its own. */
export async function playHostileCases(
  kind: keyof typeof KINDS,
  folder: string,
  options: PlayOptions,
): Promise<Played> {
  const agents: Readonly<Record<string, HostileAgent>> = KINDS[kind].agents;
  if (kind === 'quick') return playRun(kind, agents, folder, options);
  const played: Played[] = [];
  for (const [name, agent] of Object.entries(agents)) {
    options.say(name);
    played.push(await playRun(kind, { [name]: agent }, join(folder, name), options));
  }
  return {
    cases: played.flatMap(({ cases }) => cases),
    problems: played.flatMap(({ problems }) => problems),
  };
}

/** Plays agents in one run, and looks at what came of each case and what the run has left. */
async function playRun(
  kind: keyof typeof KINDS,
  agents: Readonly<Record<string, HostileAgent>>,
  folder: string,
  { signal, say }: PlayOptions,
): Promise<Played> {
  const { limits, timeoutSeconds, limitMs } = KINDS[kind];
  const names = Object.keys(agents);
  const tasks = kind === 'quick' ? CASES_PER_PART / names.length : 1;
  const project = await makeProject(folder, agents, { limits, tasks, timeoutSeconds });
  const run = startRun(project, ['--trials', '1'], signal);
  const { seen, peakBytes, ended } = await watchToItsEnd(run, project, { limitMs, say });
  signal.throwIfAborted();
  const rows = rowsOf(entriesOf(project));
  const isWorse = rows.some(({ outcome }) => outcome !== 'passed');
  return {
    cases: names.map((agent) => {
      const own = rows.filter((row) => row.agent_name === agent);
      const came = Object.groupBy(own, outcomeOf);
      return {
        ...{ agent, count: own.length, peakBytes },
        slowestSeconds: Math.max(0, ...own.map((row) => row.duration_seconds)),
        came: Object.fromEntries(Object.entries(came).map(([what, some]) => [what, some?.length ?? 0])),
      };
    }),
    problems: [
      ...(ended === (isWorse ? 1 : 0) ? [] : [`the run ended with ${ended}: ${run.text()}`]),
      ...(rows.length === tasks * names.length ? [] : [`${rows.length} cases have a result`]),
      ...rows.flatMap((row) =>
        agents[row.agent_name]?.outcomes.includes(outcomeOf(row))
          ? []
          : [`${row.case_id} came to ${outcomeOf(row)}`],
      ),
      ...(await untilGone(seen, folder)),
      ...remains(project),
    ],
  };
}

const outcomeOf = ({ outcome, failure_class: named }: Row): string =>
  named === null ? outcome : `${outcome}: ${named}`;

async function watchToItsEnd(
  run: Run,
  project: Project,
  { limitMs, say }: { limitMs: number; say: (line: string) => void },
) {
  let [seen, peakBytes]: [Seen, number] = [seenOf(run.pid), 0];
  const watching = setInterval(() => {
    const now = seenOf(run.pid);
    const namespaces = new Set([...seen.namespaces, ...now.namespaces]);
    seen = { ...now, namespaces, loops: new Map([...seen.loops, ...now.loops]) };
    peakBytes = Math.max(peakBytes, residentOf(run.pid));
  }, 1000);
  const telling = setInterval(() => say(`${rowsOf(entriesOf(project)).length} cases`), 30_000);
  const limit = setTimeout(() => {
    say(`did not end in ${limitMs / 60_000} minutes: ${run.text()}`);
    run.kill();
  }, limitMs);
  const ended = await run.ended;
  for (const timer of [watching, telling, limit]) clearTimeout(timer);
  return { seen, peakBytes, ended };
}

function residentOf(pid: number): number {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
