import { messageOf, WhetstoneError } from '@whetstone/errors';
import type { TaskConfig } from '../config/config.ts';
import type { TaskAudit } from '../record/audits.ts';
import { maskTask } from '../tasks/mask-task.ts';
import { listTests } from '../verify/list-tests.ts';
import { maskFacts } from '../verify/verify.ts';
import { atOnce } from './at-once.ts';
import type { Bench, TaskAuditOptions } from './bench.ts';
import { cheatsFor, playCheat } from './cheats.ts';
import { closingOf } from './close-exploit.ts';
import { type Finding, finding } from './finding.ts';
import { type Graded, graderOf } from './graded.ts';
import { integrityOf, type Tally } from './integrity.ts';
import { playMutants, playRefactors } from './play-changes.ts';
import { playSurroundings } from './play-surroundings.ts';
import { readDefects } from './read-task.ts';
import { openSolvedTree } from './solved-tree.ts';
import { targetOf } from './target-of.ts';

/** Plays everything on one task that can make its verdict wrong. */
export async function auditTask(stated: TaskConfig, options: TaskAuditOptions): Promise<TaskAudit> {
  const start = performance.now();
  const { room, signal, parts } = options;
  const findings: Finding[] = [];
  const audit: Omit<TaskAudit, 'integrity' | 'seconds'> = {
    task: stated.id,
    ...{ masks: null, oracle: null, nop: null, cheats: null, mutants: null, refactors: null },
    findings,
  };
  const done = (): TaskAudit => {
    const seconds = Math.round((performance.now() - start) / 100) / 10;
    return { ...audit, seconds, integrity: integrityOf(audit) };
  };
  const opened = await openTask(stated, options).catch((error: unknown) => {
    signal.throwIfAborted();
    if (!(error instanceof WhetstoneError)) throw error;
    return messageOf(error);
  });
  if (typeof opened === 'string') {
    findings.push(finding('not-judged', stated.id, { subject: 'task', what: opened }));
    return done();
  }
  const { task, masking } = opened;
  await using tree = opened.tree;
  audit.masks = opened.masks;
  const ungraded = graderOf(room, task, { masking, signal });
  const grade: Bench['grade'] = (name, ...work) => {
    options.onStep?.(name);
    return options.remember(name, () => ungraded(...work));
  };
  const bench: Bench = { task, masking, tree, options, grade };
  const rounds = parts.has('flaky') ? options.repeat : 1;
  audit.nop = await gradeTree('nop', null, rounds, bench, findings);
  if (tree.patch !== null) audit.oracle = await gradeTree('gold', tree.patch, rounds, bench, findings);
  if (audit.nop.passed > 0)
    findings.push(
      finding('nop-passes', task.id, {
        subject: 'nop',
        what: `The tree that the task starts from passes in ${audit.nop.passed} of ${audit.nop.runs} gradings.`,
      }),
    );
  if (parts.has('flaky')) await playSurroundings(bench, findings);
  if (parts.has('cheats')) {
    findings.push(...(await readDefects(task, tree)));
    audit.cheats = await playCheats(bench, audit.nop.passed > 0, findings);
  }
  // Versions of a solution that fails show nothing.
  if (audit.oracle !== null && audit.oracle.passed > 0) {
    if (parts.has('mutants')) audit.mutants = await playMutants(bench, findings);
    if (parts.has('refactors')) audit.refactors = await playRefactors(bench, findings);
  }
  return done();
}

/** The task with the tests that have to pass, how they are masked, and its trees. */
async function openTask(stated: TaskConfig, { room, signal, onStep }: TaskAuditOptions) {
  onStep?.('listing its tests');
  const task = await listTests(stated, (patch) => room.judge(stated, patch, { signal }));
  onStep?.('masking its tests');
  const found = await maskTask(task, { room, signal });
  const masking = found && 'plan' in found ? found.plan : undefined;
  const masks = masking ? maskFacts(masking) : found && 'why' in found ? found : null;
  return { task, masking, masks, tree: await openSolvedTree(room, task) };
}

/** Grades one tree a number of times, and looks whether the results agree. */
async function gradeTree(
  name: 'nop' | 'gold',
  patch: string | null,
  rounds: number,
  { task, grade }: Bench,
  findings: Finding[],
): Promise<Tally> {
  const all: Graded[] = [];
  for (let round = 1; round <= rounds; round += 1) all.push(await grade(`${name} ${round}`, patch));
  const judged = all.filter(({ verdict }) => verdict !== 'broken');
  const broken = all.find(({ verdict }) => verdict === 'broken');
  if (broken)
    findings.push(
      finding('not-judged', task.id, { subject: name, what: `${shown[name]}: ${broken.why ?? 'unknown'}` }),
    );
  const passed = judged.filter(({ verdict }) => verdict === 'passed').length;
  const moved = movedTests(judged);
  if ((passed > 0 && passed < judged.length) || moved.length > 0) {
    const which = moved.length > 0 ? `: ${moved.slice(0, 3).join(', ')} changed` : '';
    const what = `${shown[name]} passed in ${passed} of ${judged.length} gradings${which}.`;
    findings.push(finding('flaky', task.id, { subject: name, what }));
  } else if (name === 'gold' && judged.length > 0 && passed === 0) {
    const what = `${shown[name]} failed: ${judged[0]?.why ?? 'unknown'}`;
    findings.push(finding('oracle-fails', task.id, { subject: name, what }));
  }
  return { passed, runs: judged.length };
}

const shown = { nop: 'The tree without any work', gold: 'The tree with the gold patch' };

/** Ids of tests whose result is not the same in all gradings that reported them. */
export function movedTests(all: readonly Pick<Graded, 'tests'>[]): string[] {
  const seen = new Map<string, Set<string>>();
  for (const { tests } of all)
    for (const [id, status] of Object.entries(tests ?? {})) {
      const statuses = seen.get(id) ?? new Set();
      seen.set(id, statuses.add(status));
    }
  return [...seen].flatMap(([id, statuses]) => (statuses.size > 1 ? id : []));
}

/** Plays every cheat that fits the task. One that gets a pass is an exploit, unless no work passes as well. */
async function playCheats(bench: Bench, isOpen: boolean, findings: Finding[]): Promise<TaskAudit['cheats']> {
  const { task, tree, options, grade } = bench;
  const target = await targetOf(task, tree, options);
  const scored: string[] = [];
  let runs = 0;
  const cheats = cheatsFor(target).filter(
    ({ name }) => options.cheats.length === 0 || options.cheats.includes(name),
  );
  const all = await atOnce(cheats, options.jobs, (cheat) =>
    grade(`cheat ${cheat.name} ${cheat.hash}`, playCheat(cheat, options.signal)),
  );
  for (const [index, graded] of all.entries()) {
    const cheat = cheats[index];
    if (!cheat) continue;
    if (graded.verdict === 'broken') {
      const what = `An agent that ${cheat.what} turns its failure into missing data: ${graded.why}`;
      findings.push(finding('exploit', task.id, { subject: cheat.name, what }));
      continue;
    }
    runs += 1;
    if (graded.verdict !== 'passed') continue;
    scored.push(cheat.name);
    if (isOpen) continue;
    const what = `An agent passes that ${cheat.what}.`;
    findings.push(
      finding('exploit', task.id, { subject: cheat.name, what, fix: closingOf(cheat.name, task) }),
    );
  }
  const after = await grade('nop after all cheats', null);
  if (after.verdict === 'passed' && !isOpen)
    findings.push(
      finding('exploit', task.id, {
        subject: 'poisons-next',
        what: 'After the cheats have run, the tree without any work passes: what one case leaves reaches the next.',
      }),
    );
  return { passed: scored.length, runs, scored };
}
