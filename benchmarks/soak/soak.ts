import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, MEBIBYTE, tableOf } from '../benchmark.ts';
import { makeRepository } from '../make-repository.ts';
import { WHETSTONE } from '../matrix.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HEAVY, type HostileAgent, QUICK } from './hostile-agents.ts';
import { leftOf, type Seen, seenOf } from './left-behind.ts';

const JOBS = 2;
const TASKS = 5;
/** What a killed run has to be gone after. A removed control group takes the kernel a moment. */
const GONE_MS = 30_000;
const LIMITS = { memory_mb: 256, processes: 120, cpus: 1, disk_mb: 100 };
const LIMITS_OF_HEAVY = { memory_mb: 2000, processes: 120, cpus: 1, disk_mb: 12_000 };

type Entry = { type: string; case_id?: string; row?: Row };
type Row = {
  case_id: string;
  agent_name: string;
  outcome: string;
  failure_class: string | null;
  duration_seconds: number;
};

/** A project of its own: its configuration, and the TMPDIR that its runs have to leave empty. */
type Project = { folder: string; temporary: string; trials: number };

/** Hostile agents in many cases, and a harness that is killed at random moments. */
export const soak: Benchmark = async ({ size, say }) => {
  const [trials, heavyTrials, kills] = size === 'quick' ? [1, 0, 12] : [33, 5, 200];
  using folder = temporaryFolder();
  const all: Row[] = [];
  const problems: string[] = [];
  let peakBytes = 0;
  for (const [name, agents, count, limits, tasks] of [
    ['quick', QUICK, trials, LIMITS, TASKS],
    ['heavy', HEAVY, heavyTrials, LIMITS_OF_HEAVY, 1],
  ] as const) {
    if (count === 0) continue;
    const project = await makeProject(join(folder.path, name), agents, { limits, tasks, trials: count });
    const { seen, exitCode, rssBytes, text } = await runToItsEnd(project, say);
    peakBytes = Math.max(peakBytes, rssBytes);
    if (exitCode !== 1) problems.push(`${name}: the run ended with ${exitCode}: ${text}`);
    problems.push(...(await untilGone(seen, folder.path)), ...remains(project));
    const rows = rowsOf(entriesOf(project));
    all.push(...rows);
    for (const row of rows) {
      const came = row.failure_class === null ? row.outcome : `${row.outcome}: ${row.failure_class}`;
      const { outcomes = [] } = (agents as Record<string, HostileAgent>)[row.agent_name] ?? {};
      if (!outcomes.includes(came)) problems.push(`${row.case_id} came to ${came}`);
    }
  }
  const killed = await killOften(join(folder.path, 'killed'), kills, say);
  problems.push(...killed.problems);
  for (const problem of problems) say(`problem: ${problem}`);
  const cases = [...new Set(all.map(({ agent_name: name }) => name))].map((subject) => {
    const own = all.filter(({ agent_name: name }) => name === subject);
    return { subject, count: own.length, slowest: Math.max(...own.map((row) => row.duration_seconds)) };
  });
  const filesSeconds = cases.find(({ subject }) => subject === 'writes-200000-files')?.slowest;
  return {
    method: `${all.length} cases of hostile agents in the sandbox \`bubblewrap\`, ${JOBS} at a time, and runs of the same agents that were killed with \`kill -9\` at ${killed.kills} random moments and resumed. After each run and each kill: processes, namespaces, control groups, mounts and loop devices of the run, and what is left in its TMPDIR once another run has started. Each case has to come to what its agent deserves, and each finished case has to be kept.`,
    tables: [
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
        measured: killed.mostLost,
        below: JOBS + 1,
        unit: '',
        digits: 0,
      },
      ...(filesSeconds === undefined
        ? []
        : [{ what: 'a case of 200,000 files', measured: filesSeconds, below: 20, unit: 's', digits: 1 }]),
    ],
    notes: [
      'Not counted: empty folders `whetstone-brief-…` of a start that was killed, which a run of the next day removes.',
      `Resident memory of the harness was at most ${Math.round(peakBytes / MEBIBYTE)} MiB.`,
      ...problems.slice(0, 20).map((problem) => `Problem: ${problem}`),
    ],
  };
};

async function makeProject(
  folder: string,
  agents: Readonly<Record<string, HostileAgent>>,
  { limits, tasks, trials }: { limits: Record<string, number>; tasks: number; trials: number },
): Promise<Project> {
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  await makeRepository(join(folder, 'repository'), 200);
  const commands = Object.entries(agents).map(([name, { script }]) => [
    name,
    {
      kind: 'custom',
      command: ['bash', '-c', script.replaceAll('{', '{{').replaceAll('}', '}}')],
      timeout_seconds: 60,
    },
  ]);
  const config = {
    repo: { path: 'repository' },
    agents: Object.fromEntries(commands),
    tasks: 'tasks.yaml',
    variants: { plain: {} },
    evaluation: { commands: ['true'] },
    sandbox: { provider: 'bubblewrap', limits },
    output_dir: 'runs',
  };
  const list = Array.from({ length: tasks }, (_, index) => ({
    id: `task-${index + 1}`,
    prompt: 'Break something.',
  }));
  writeFileSync(join(folder, 'whetstone.yaml'), JSON.stringify(config, null, 2));
  writeFileSync(join(folder, 'tasks.yaml'), JSON.stringify({ tasks: list }));
  return { folder, temporary, trials };
}

function start(
  { folder, temporary }: Project,
  args: readonly string[],
): { child: ChildProcess; text: () => string } {
  const child = spawn(process.execPath, [WHETSTONE, 'run', '--jobs', String(JOBS), ...args], {
    cwd: folder,
    env: { ...process.env, CI: '1', TMPDIR: temporary },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let last = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    last = (last + chunk).slice(-2000);
  });
  return { child, text: () => last };
}

async function runToItsEnd(project: Project, say: (line: string) => void) {
  const { child, text } = start(project, ['--trials', String(project.trials)]);
  const ended = once(child, 'exit');
  let [seen, rssBytes]: [Seen, number] = [seenOf(child.pid ?? 0), 0];
  const watching = setInterval(() => {
    const now = seenOf(child.pid ?? 0);
    const namespaces = new Set([...seen.namespaces, ...now.namespaces]);
    seen = { ...now, namespaces, loops: new Map([...seen.loops, ...now.loops]) };
    rssBytes = Math.max(rssBytes, residentOf(child.pid ?? 0));
  }, 1000);
  const telling = setInterval(() => say(`${rowsOf(entriesOf(project)).length} cases`), 30_000);
  const [exitCode] = await ended;
  for (const timer of [watching, telling]) clearInterval(timer);
  return { seen, exitCode, rssBytes, text: text() };
}

/** Kills runs until it is enough, and resumes each; a run that has ended is followed by a new one. */
async function killOften(folder: string, kills: number, say: (line: string) => void) {
  const agents = Object.fromEntries(Object.entries(QUICK).filter(([name]) => name !== 'memory-bomb'));
  const project = await makeProject(folder, agents, { limits: LIMITS, tasks: TASKS, trials: 4 });
  const problems: string[] = [];
  let [done, mostLost, isNew] = [0, 0, true];
  while (done < kills) {
    const before = isNew ? [] : entriesOf(project);
    const args = isNew ? ['--trials', String(project.trials)] : ['--resume', 'latest'];
    const { child, text } = start(project, args);
    const ended = once(child, 'exit');
    // A start takes about a second, so a part of them hits the start.
    const wait = new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 5000, 'kill'));
    const first = await Promise.race([ended, wait]);
    if (first !== 'kill') {
      const [code] = first as [number];
      if (code !== 1) problems.push(`a run ended with ${code}: ${text()}`);
      isNew = true;
      continue;
    }
    const seen = seenOf(child.pid ?? 0);
    child.kill('SIGKILL');
    await ended;
    done += 1;
    problems.push(...(await untilGone(seen, folder)).map((what) => `after kill ${done}: ${what}`));
    const after = entriesOf(project);
    const kept = JSON.stringify(rowsOf(after).slice(0, rowsOf(before).length));
    if (!isNew && kept !== JSON.stringify(rowsOf(before))) problems.push(`kill ${done} lost finished cases`);
    const count = (type: string) => after.slice(before.length).filter((entry) => entry.type === type).length;
    mostLost = Math.max(mostLost, count('case.started') - count('case.finished') - count('case.retried'));
    isNew = after.length === 0;
    if (done % 10 === 0) say(`${done} of ${kills} kills, ${problems.length} problems`);
  }
  const { child } = start(project, ['--dry-run']);
  await once(child, 'exit');
  // A run removes what killed ones have left.
  const last = start(project, ['--trials', '1', '--agent', 'works']);
  await once(last.child, 'exit');
  return { kills: done, problems: [...problems, ...remains(project)], mostLost };
}

/** What is left of a run that has ended after a while, or nothing as soon as nothing is. */
async function untilGone(seen: Seen, folder: string): Promise<string[]> {
  const deadline = performance.now() + GONE_MS;
  for (;;) {
    const left = leftOf(seen, folder);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The cache of compiled code stays, and what was to be short-lived is removed by a run of the next day. */
const KEPT = /^(?:whetstone-compile-cache|node-compile-cache|whetstone-case-\d+|whetstone-brief-\w+)$/;

const remains = ({ temporary }: Project): string[] =>
  readdirSync(temporary)
    .filter((name) => !KEPT.test(name))
    .map((name) => `${name} is left in TMPDIR`);

function entriesOf({ folder }: Project): Entry[] {
  try {
    const runs = join(folder, 'runs');
    const latest = readdirSync(runs, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
      .at(-1);
    if (latest === undefined) return [];
    const lines = readFileSync(join(runs, latest, 'journal.jsonl'), 'utf8').split('\n');
    return lines.flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Entry] : []));
  } catch {
    return [];
  }
}

const rowsOf = (entries: readonly Entry[]): Row[] =>
  entries.flatMap(({ row, type }) => (type === 'case.finished' && row ? [row] : []));

function residentOf(pid: number): number {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
