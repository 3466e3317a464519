import { setTimeout } from 'node:timers/promises';
import { KILLED_AGENTS, KILLED_SETTINGS } from './hostile-cases.ts';
import { seenOf, untilGone } from './left-behind.ts';
import { KILLS_PER_PART, type PartResult } from './parts.ts';
import { entriesOf, latestRun, makeProject, type Project, remains, rowsOf, startRun } from './project.ts';

/** One kill of four comes this long after the start of a run, and the others as long after its first case has begun. */
const [EARLIEST_MS, LATEST_MS] = [100, 5100];
const LOOK_MS = 50;
const RESUME_LIMIT_MS = 10 * 60_000;

export type Killed = Pick<PartResult, 'kills' | 'midCase' | 'mostLost' | 'problems'>;

/**
 * Kills runs of hostile agents at random moments and resumes each. A run that has ended is followed by a new one. What a kill
 * has left is looked at after each; what is left in TMPDIR when one run more has ended, which removes it.
 */
export async function killRuns(
  folder: string,
  { signal, say }: { signal: AbortSignal; say: (line: string) => void },
): Promise<Killed> {
  const project = await makeProject(folder, KILLED_AGENTS, KILLED_SETTINGS);
  const problems: string[] = [];
  let [kills, midCase, mostLost] = [0, 0, 0];
  let resumed: string | undefined;
  while (kills < KILLS_PER_PART) {
    const before = resumed === undefined ? [] : entriesOf(project);
    const known = latestRun(folder);
    const args = resumed === undefined ? ['--trials', '4'] : ['--resume', resumed];
    const waitMs = EARLIEST_MS + Math.random() * (LATEST_MS - EARLIEST_MS);
    const run = startRun(project, args, signal);
    const isAtWork = kills % 4 !== 0;
    const hasBegun = () =>
      (resumed !== undefined || latestRun(folder) !== known) &&
      entriesOf(project)
        .slice(before.length)
        .some(({ type }) => type === 'case.started');
    let isOver = false;
    const ended = run.ended.finally(() => {
      isOver = true;
    });
    const first = await Promise.race([ended, momentAfter(() => !isAtWork || isOver || hasBegun(), waitMs)]);
    signal.throwIfAborted();
    if (first !== 'kill') {
      if (first !== 1) problems.push(`a run ended with ${first}: ${run.text()}`);
      resumed = undefined;
      continue;
    }
    const seen = seenOf(run.pid);
    run.kill();
    await run.ended;
    kills += 1;
    const moment = `${Math.round(waitMs)} ms after the start of ${isAtWork ? 'a case of ' : ''}${args.join(' ')}`;
    const where = `kill ${kills}, ${moment}, with ${runningCases(project).join(' and ') || 'no case'}`;
    problems.push(...(await untilGone(seen, folder)).map((what) => `${where}: ${what}`));
    const latest = latestRun(folder);
    // A new run that was killed before it had a folder.
    if (resumed === undefined && latest === known) continue;
    const after = entriesOf(project);
    const kept = JSON.stringify(rowsOf(after).slice(0, rowsOf(before).length));
    if (kept !== JSON.stringify(rowsOf(before))) problems.push(`${where}: finished cases are lost`);
    const count = (type: string) => after.slice(before.length).filter((entry) => entry.type === type).length;
    const lost = count('case.started') - count('case.finished') - count('case.retried');
    if (lost > 0) midCase += 1;
    mostLost = Math.max(mostLost, lost);
    resumed = after.length === 0 ? undefined : latest;
    say(`${kills} of ${KILLS_PER_PART} kills, ${problems.length} problems`);
  }
  // A run removes what killed ones have left.
  const last = startRun(project, ['--trials', '1', '--agent', 'works'], signal);
  const limit = AbortSignal.timeout(RESUME_LIMIT_MS);
  limit.addEventListener('abort', last.kill);
  const lastEnded = await last.ended;
  limit.removeEventListener('abort', last.kill);
  signal.throwIfAborted();
  if (lastEnded !== 0) problems.push(`the run after the kills ended with ${lastEnded}: ${last.text()}`);
  return { kills, midCase, mostLost, problems: [...problems, ...remains(project)] };
}

/** The cases of the newest run that have started and not ended. */
function runningCases(project: Project): string[] {
  const running = new Set<string>();
  for (const { type, case_id: id = '' } of entriesOf(project)) {
    if (type === 'case.started') running.add(id);
    if (type === 'case.finished') running.delete(id);
  }
  return [...running];
}

/** Resolves so long after the condition came true. */
async function momentAfter(condition: () => boolean, waitMs: number): Promise<'kill'> {
  while (!condition()) await setTimeout(LOOK_MS);
  await setTimeout(waitMs);
  return 'kill';
}
