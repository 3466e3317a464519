import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRepository } from '../make-repository.ts';
import { WHETSTONE } from '../matrix.ts';
import type { HostileAgent } from './hostile-agents.ts';

/** How many cases run at once. */
export const JOBS = 2;

/** A line of a journal. */
export type Entry = { type: string; case_id?: string; row?: Row };
export type Row = {
  case_id: string;
  agent_name: string;
  outcome: string;
  failure_class: string | null;
  duration_seconds: number;
};

/** `temporary`: the TMPDIR of its runs, which they have to leave empty. */
export type Project = { folder: string; temporary: string };

/** Makes a repository of 200 files and a configuration that sends these agents into it, sealed. `timeoutSeconds`: of each. */
export async function makeProject(
  folder: string,
  agents: Readonly<Record<string, HostileAgent>>,
  {
    limits,
    tasks,
    timeoutSeconds,
  }: { limits: Record<string, number>; tasks: number; timeoutSeconds: number },
): Promise<Project> {
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  await makeRepository(join(folder, 'repository'), 200);
  const commands = Object.entries(agents).map(([name, { script }]) => [
    name,
    {
      kind: 'custom',
      command: ['bash', '-c', script.replaceAll('{', '{{').replaceAll('}', '}}')],
      timeout_seconds: timeoutSeconds,
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
  return { folder, temporary };
}

/** A run of Whetstone. `ended`: its exit code, or the name of the signal that ended it. `text`: the end of its stderr. */
export type Run = {
  pid: number;
  ended: Promise<number | NodeJS.Signals>;
  text: () => string;
  kill(): void;
};

/** `signal` ends it as Ctrl-C does. */
export function startRun({ folder, temporary }: Project, args: readonly string[], signal: AbortSignal): Run {
  const child = spawn(process.execPath, [WHETSTONE, 'run', '--jobs', String(JOBS), ...args], {
    cwd: folder,
    env: { ...process.env, CI: '1', TMPDIR: temporary },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  let last = '';
  child.stderr.on('data', (chunk: Buffer) => {
    last = (last + chunk).slice(-2000);
  });
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, ending) => {
      signal.removeEventListener('abort', stop);
      resolve(code ?? ending ?? 0);
    });
  });
  return { pid: child.pid ?? 0, ended, text: () => last, kill: () => child.kill('SIGKILL') };
}

/** The journal of the newest run; empty where there is none. */
export function entriesOf({ folder }: Project): Entry[] {
  const latest = latestRun(folder);
  if (latest === undefined) return [];
  const lines = textOf(join(folder, 'runs', latest, 'journal.jsonl')).split('\n');
  return lines.flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Entry] : []));
}

/** The name of the newest run. */
export function latestRun(folder: string): string | undefined {
  try {
    const entries = readdirSync(join(folder, 'runs'), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    return names.sort().at(-1);
  } catch {
    return undefined;
  }
}

export const rowsOf = (entries: readonly Entry[]): Row[] =>
  entries.flatMap(({ row, type }) => (type === 'case.finished' && row ? [row] : []));

/** The cache of compiled code stays, and so does the empty folder at which commands see their tree. */
const KEPT = /^(?:whetstone-compile-cache|node-compile-cache|whetstone-case-\d+)$/;

/** What its runs have left in TMPDIR, in words. */
export const remains = ({ temporary }: Project): string[] =>
  readdirSync(temporary)
    .filter((name) => !KEPT.test(name))
    .map((name) => `${name} is left in TMPDIR`);

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
