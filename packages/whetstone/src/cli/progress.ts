import type { PlannedCase } from '../plan/plan.ts';
import type { CaseRow } from '../record/row.ts';
import { counted } from '../report/format.ts';
import { oneLine } from '../report/sanitize.ts';
import type { RunEvent } from '../run/run-event.ts';
import { environmentLine, isEnvironmentEvent } from './environment-line.ts';
import { sandboxLine } from './sandbox-line.ts';
import { type Colors, isInteractive, terminalColors } from './terminal-features.ts';

export type Progress = { show(event: RunEvent): void; stop(): void };

/** Live lines on a terminal, elsewhere one line per case. On stderr, because stdout is only for the result. */
export async function createProgress(stream: NodeJS.WriteStream): Promise<Progress> {
  const colors = terminalColors(stream);
  return isInteractive(stream) ? await liveProgress(stream, colors) : plainProgress(stream, colors);
}

function plainProgress(stream: NodeJS.WriteStream, colors: Colors): Progress {
  let done = 0;
  let total = 0;
  return {
    show(event) {
      if (event.type === 'started') {
        ({ done, total } = event);
        stream.write(`${startLine(event)}\n`);
      } else if (event.type === 'warned') {
        stream.write(`${warningLine(event.message, colors)}\n`);
      } else if (event.type === 'sandbox.chosen') {
        stream.write(`Sandbox ${sandboxLine(event)}\n`);
      } else if (isEnvironmentEvent(event)) {
        stream.write(`${environmentLine(event, colors)}\n`);
      } else if (event.type === 'look.taken') {
        stream.write(`${lookLine(event)}\n`);
      } else if (event.type === 'case.retried') {
        stream.write(`${colors.yellow('retry')}  ${label(event.planned)}  ${oneLine(event.evidence, 120)}\n`);
      } else if (event.type === 'case.left-out') {
        done += 1;
        stream.write(`[${done}/${total}] ${leftOutLine(event, colors)}\n`);
      } else if (event.type === 'case.finished') {
        done += 1;
        stream.write(`[${done}/${total}] ${caseLine(event.planned, event.row, colors)}\n`);
      }
    },
    stop() {},
  };
}

async function liveProgress(stream: NodeJS.WriteStream, colors: Colors): Promise<Progress> {
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(stream);
  const running = new Map<string, { planned: PlannedCase; since: number; doing?: string }>();
  const rows: CaseRow[] = [];
  const began = performance.now();
  let before = 0;
  let total = 0;
  let header = 'Preparing the trees…';

  const draw = () => {
    const elapsed = (performance.now() - began) / 1000;
    const lines = [header];
    if (total > 0) lines.push(totalsLine({ before, total, rows, running: running.size, elapsed }, colors));
    for (const { planned, since, doing = '' } of running.values()) {
      lines.push(colors.dim(`  ${label(planned)}  ${seconds((performance.now() - since) / 1000)}${doing}`));
    }
    update(lines.join('\n'));
  };
  const timer = setInterval(draw, 250);
  timer.unref();
  return {
    show(event) {
      if (event.type === 'started') {
        ({ done: before, total } = event);
        header = startLine(event);
      } else if (event.type === 'warned') {
        update.clear();
        stream.write(`${warningLine(event.message, colors)}\n`);
      } else if (event.type === 'sandbox.chosen') {
        update.clear();
        stream.write(`Sandbox ${sandboxLine(event)}\n`);
      } else if (isEnvironmentEvent(event)) {
        update.clear();
        stream.write(`${environmentLine(event, colors)}\n`);
      } else if (event.type === 'look.taken') {
        update.clear();
        stream.write(`${lookLine(event)}\n`);
      } else if (event.type === 'case.started') {
        running.set(event.planned.id, { planned: event.planned, since: performance.now() });
      } else if (event.type === 'case.left-out') {
        before += 1;
        update.clear();
        stream.write(`${leftOutLine(event, colors)}\n`);
      } else if (event.type === 'case.finished') {
        running.delete(event.planned.id);
        rows.push(event.row);
        update.clear();
        stream.write(`${caseLine(event.planned, event.row, colors)}\n`);
      } else if (event.type === 'case.progressed') {
        const { planned, phase, action, waiting } = event;
        const what = waiting === undefined ? action : `waits, because ${waiting}`;
        const doing = `  ${phase}${what === undefined ? '' : `: ${oneLine(what, 60)}`}`;
        running.set(planned.id, {
          planned,
          since: running.get(planned.id)?.since ?? performance.now(),
          doing,
        });
      }
      draw();
    },
    stop() {
      clearInterval(timer);
      update.clear();
      update.done();
    },
  };
}

const warningLine = (message: string, colors: Colors): string =>
  `${colors.yellow('warning')}  ${oneLine(message)}`;

function startLine({ total, done, reused, directory }: Extract<RunEvent, { type: 'started' }>): string {
  if (reused > 0) return `${counted(total, 'case')}, ${reused} of them reused → ${directory}`;
  const cases = done > 0 ? `${total - done} of ${total} cases are missing` : counted(total, 'case');
  return `${cases} → ${directory}`;
}

type Totals = { before: number; total: number; rows: CaseRow[]; running: number; elapsed: number };

function totalsLine({ before, total, rows, running, elapsed }: Totals, colors: Colors): string {
  const done = before + rows.length;
  const failed = rows.filter(({ outcome }) => outcome === 'failed' || outcome === 'error').length;
  const remaining = total - done;
  const estimate = rows.length > 0 && remaining > 0 ? (elapsed / rows.length) * remaining : undefined;
  const known = rows.flatMap((row) => row.cost_usd ?? []);
  return [
    `${done}/${total} done`,
    `${running} running`,
    failed > 0 ? colors.red(`${failed} not passed`) : `${failed} not passed`,
    seconds(elapsed),
    ...(estimate === undefined ? [] : [`about ${seconds(estimate)} left`]),
    ...(known.length > 0 ? [`$${known.reduce((sum, cost) => sum + cost, 0).toFixed(2)} so far`] : []),
  ].join(' · ');
}

function caseLine(planned: PlannedCase, row: CaseRow, colors: Colors): string {
  const mark = {
    passed: colors.green('passed'),
    failed: colors.red('failed'),
    error: colors.yellow('error '),
    skipped: colors.dim('skip  '),
  }[row.outcome];
  const kind = row.failure_class === null ? '' : `${row.failure_class}: `;
  const why = row.outcome === 'passed' ? '' : `  ${kind}${oneLine(row.evidence ?? '', 120)}`;
  return `${mark}  ${label(planned)}  ${row.duration_seconds === null ? '' : seconds(row.duration_seconds)}${why}`;
}

const leftOutLine = (
  { planned, why }: Extract<RunEvent, { type: 'case.left-out' }>,
  colors: Colors,
): string =>
  `${colors.dim('not run')}  ${label(planned)}  ${why === 'passed' ? 'another trial has passed' : 'the run ended at a look'}`;

function lookLine({ state }: Extract<RunEvent, { type: 'look.taken' }>): string {
  const { done, looks, analysed_tasks: tasks, planned_tasks: planned, ended } = state;
  const next = {
    decided: 'every comparison is decided',
    futile: 'no comparison has a chance left to show a difference',
  };
  const outcome = ended ? `; ends here, because ${next[ended]}` : done < looks ? '; goes on' : '';
  return `Look ${done} of ${looks}, after ${tasks} of ${counted(planned, 'task')}${outcome}`;
}

const label = ({ agent, task, variant, trial }: PlannedCase): string =>
  `${agent} · ${task} · ${variant} · ${trial}`;

function seconds(value: number): string {
  if (value < 60) return `${value.toFixed(1)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(value % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
