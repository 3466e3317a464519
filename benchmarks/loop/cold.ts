import { type Aim, median, type Table, tableOf } from '../benchmark.ts';
import type { ColdUse } from './cold-program.ts';
import { type Loop, takesPart, type Work } from './measure-rounds.ts';
import type { RunPublished } from './published.ts';

/** What a loop may cost at most, against the newest pi, on each shape and until the first request. */
const AIM = 0.8;

/**
 * The same work in a process that has loaded nothing and compiled nothing, with the packages as they are published: what a
 * short session of a user costs. The loops take turns, in the other order every second time.
 */
export async function measureCold(
  loops: readonly Loop[],
  {
    works,
    run,
    say,
  }: { works: readonly (Work & { runs: number })[]; run: RunPublished; say: (line: string) => void },
): Promise<{ tables: Table[]; aims: Aim[] }> {
  const tables: Table[] = [];
  const aims: Aim[] = [];
  for (const work of works) {
    const what = `${work.conversations} × ${work.rounds} rounds, cold`;
    const { runs } = work;
    const taken = loops.filter((loop) => takesPart(loop, work));
    say(`${what}, ${taken.length} loops, ${runs} runs`);
    const measured = taken.map((loop) => ({ loop, subject: loop.subject, uses: [] as ColdUse[] }));
    for (let turn = 0; turn < runs; turn += 1) {
      for (const { loop, uses } of turn % 2 === 0 ? measured : measured.toReversed())
        uses.push(await run<ColdUse>('cold', [loop.name, work.conversations, work.rounds]));
    }
    const middle = (uses: readonly ColdUse[], of: keyof ColdUse) => median(uses.map((use) => use[of]));
    tables.push(
      tableOf(`${what}, ${runs} runs`, measured, [
        ['CPU to import', 'ms', 0, ({ uses }) => middle(uses, 'importCpuMs')],
        ['CPU to the first request', 'ms', 0, ({ uses }) => middle(uses, 'requestCpuMs')],
        ['time to the first request', 'ms', 0, ({ uses }) => middle(uses, 'requestWallMs')],
        ['CPU in all', 'ms', 0, ({ uses }) => middle(uses, 'cpuMs')],
        ['CPU after the import', 'ms', 0, ({ uses }) => middle(uses, 'cpuMs') - middle(uses, 'importCpuMs')],
        ['time in all', 'ms', 0, ({ uses }) => middle(uses, 'wallMs')],
        ['peak RSS of the process', 'MiB', 0, ({ uses }) => middle(uses, 'peakMegabytes')],
      ]),
    );
    const usesOf = (name: string) => measured.find(({ loop }) => loop.name === name)?.uses;
    const [ours, pi, ai] = ['whetstone', 'pi-agent-core', 'ai-generate-text'].map(usesOf);
    if (!ours || !pi || !ai) continue;
    const against = (what: string, of: keyof ColdUse, peer: ColdUse[], below: number): Aim => {
      return { what, measured: middle(ours, of) / middle(peer, of), below, unit: '×', digits: 2 };
    };
    aims.push(against(`CPU of ${what}, against the newest pi-agent-core`, 'cpuMs', pi, AIM));
    if (work !== works[0]) continue;
    aims.push(against('CPU from the import to the first request, against it', 'requestCpuMs', pi, AIM));
    aims.push(against('CPU of the import, against that of ai', 'importCpuMs', ai, 1));
  }
  return { tables, aims };
}
