import { join } from 'node:path';
import { type Aim, median, type Table, tableOf } from '../benchmark.ts';
import { runNode } from '../run-node.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { program, range } from './measure-rounds.ts';
import type { ResumeUse } from './resume-program.ts';

/**
 * A long conversation that a new process takes up from its snapshot, and what the session then costs while it waits: that
 * takes a minute, which `rest` waits for, and disturbs no other measurement.
 */
export async function measureResume({
  rounds,
  runs,
  idleSeconds,
}: {
  rounds: number;
  runs: number;
  idleSeconds: number;
}): Promise<{ rest: Promise<{ table: Table; aims: Aim[] }> }> {
  const folder = temporaryFolder();
  const file = join(folder.path, 'snapshot.json');
  const compileCache = join(folder.path, 'compile-cache');
  await runNode(program('resume'), ['write', file, rounds], { compileCache });
  const uses: ResumeUse[] = [];
  const resume = (seconds: number) =>
    runNode<ResumeUse>(program('resume'), ['resume', file, seconds], { compileCache });
  for (let run = 0; run < runs; run += 1) uses.push(await resume(0));
  const idle = resume(idleSeconds).finally(() => folder[Symbol.dispose]());
  return {
    rest: idle.then(({ idleCpuMs }) => reportOf({ uses, idleMs: idleCpuMs, rounds, runs, idleSeconds })),
  };
}

type Resumed = { uses: ResumeUse[]; idleMs: number; rounds: number; runs: number; idleSeconds: number };

function reportOf({ uses, idleMs, rounds, runs, idleSeconds }: Resumed): { table: Table; aims: Aim[] } {
  const times = uses.map(({ requestMs }) => requestMs);
  const subject = `${rounds} rounds, ${((uses[0]?.snapshotBytes ?? 0) / 1e6).toFixed(1)} MB`;
  const table = tableOf(
    `Resume of a snapshot, ${runs} runs, and ${idleSeconds} s without work`,
    [{ subject }],
    [
      ['time to the next request', 'ms', 0, () => median(times)],
      ['range', 'ms', 0, () => range(times, 0)],
      ['CPU of it', 'ms', 0, () => median(uses.map(({ requestCpuMs }) => requestCpuMs))],
      ['idle CPU in all', 'ms', 1, () => idleMs],
    ],
  );
  const aims: Aim[] = [
    {
      what: `resume of ${rounds} rounds to the next request`,
      measured: median(times),
      below: 1_000,
      unit: 'ms',
      digits: 0,
    },
    {
      what: 'share of a CPU that an idle session uses',
      measured: idleMs / (idleSeconds * 10),
      below: 0.1,
      unit: '%',
      digits: 3,
    },
  ];
  return { table, aims };
}
