import { type Benchmark, MEBIBYTE, tableOf } from './benchmark.ts';
import { makeMatrix, ONE_CASE, runMatrix } from './matrix.ts';
import type { Measured } from './measured-process.ts';
import { temporaryFolderInMemory } from './temporary-folder.ts';

/** Writes that many files of a few bytes, a thousand per folder. */
const writes = (files: number): string =>
  `mkdir many; cd many; mkdir $(seq 0 ${Math.floor(files / 1000)}); seq ${files} |
   awk '{{ file = int($1 / 1000) "/" $1; print $1 > file; close(file) }}'`;

const filesOf = (count: number): string => `${count.toLocaleString('en')} files`;

/** What a case costs whose agent leaves very many files. */
export const manyFiles: Benchmark = async ({ size, say }) => {
  const most = size === 'quick' ? 2_000 : 200_000;
  const cases: { subject: string; use: Measured }[] = [];
  let isInMemory = true;
  const measure = async (subject: string, agentScript: string) => {
    say(`one case with an agent that writes ${subject}`);
    using folder = temporaryFolderInMemory();
    isInMemory = folder.isInMemory;
    await makeMatrix(folder.path, agentScript);
    const use = await runMatrix(folder.path, ONE_CASE);
    cases.push({ subject, use });
    return use.wallSeconds;
  };
  const few = most / 10;
  const once = await measure(filesOf(few), writes(few));
  const twice = await measure(
    `${filesOf(few)}, removes and writes them again`,
    `( ${writes(few)} ); rm -r many; ${writes(few)}`,
  );
  const all = await measure(filesOf(most), writes(most));
  return {
    method: `One whole run of one case, the program's start and end included; the agent is \`seq\` and \`awk\`. The files are ${isInMemory ? 'in memory (/dev/shm)' : 'on disk'}: some disks take milliseconds to remove one.`,
    tables: [
      tableOf('A case with an agent that writes', cases, [
        ['wall', 's', 2, ({ use }) => use.wallSeconds],
        ['own CPU', 's', 2, ({ use }) => use.cpuSeconds],
        ['CPU of children', 's', 2, ({ use }) => use.childrenCpuSeconds],
        ['peak memory', 'MiB', 0, ({ use }) => use.peakBytes / MEBIBYTE],
      ]),
    ],
    aims: [
      { what: `wall time with ${filesOf(most)}`, measured: all, below: 20, unit: 's', digits: 1 },
      {
        what: 'writing files again against writing them once',
        measured: twice / once,
        below: 3,
        unit: '×',
        digits: 1,
      },
    ],
    notes: [
      'Each file is hashed, committed, put into the patch and removed. The verification sees new folders of the agent without a copy, where layered mounts work.',
    ],
  };
};
