import { globSync } from 'node:fs';
import { join } from 'node:path';
import { drivenAgentKinds } from '@whetstone/agents/config';
import { type Aim, flatAim, MEBIBYTE, type Table, tableOf } from '../benchmark.ts';
import { measureNode } from '../measured-process.ts';

const NATIVE = join(import.meta.dirname, '../../packages/agents/src/native');
const PROGRAM = join(import.meta.dirname, 'parse-program.ts');

/** How fast the output of each released agent becomes events, and whether memory stays flat. */
export async function measureParsing(
  megabytes: number,
  say: (line: string) => void,
): Promise<{ table: Table; aims: Aim[] }> {
  const measured = [];
  for (const kind of drivenAgentKinds) {
    const [file] = globSync(`${kind}/__fixtures__/*/{main,task}.stream.jsonl`, { cwd: NATIVE });
    if (file === undefined) throw new Error(`There is no recorded stream of ${kind}.`);
    const parse = (bytes: number) =>
      measureNode([PROGRAM, kind, join(NATIVE, file), String(bytes)], { cwd: NATIVE });
    say(`${megabytes} MB of ${kind}`);
    const start = await parse(1);
    const tenth = await parse(megabytes * 1e5);
    const whole = await parse(megabytes * 1e6);
    measured.push({ subject: kind, tenth, whole, seconds: whole.wallSeconds - start.wallSeconds });
  }
  return {
    table: tableOf('From what an agent prints to events', measured, [
      ['speed', 'MB/s', 0, ({ seconds }) => megabytes / seconds],
      [`peak, ${megabytes / 10} MB`, 'MiB', 0, ({ tenth }) => tenth.peakBytes / MEBIBYTE],
      [`peak, ${megabytes} MB`, 'MiB', 0, ({ whole }) => whole.peakBytes / MEBIBYTE],
    ]),
    aims: measured.map(({ subject, tenth, whole }) =>
      flatAim(`peak of ${subject} against a tenth of the bytes`, [tenth.peakBytes, whole.peakBytes]),
    ),
  };
}
