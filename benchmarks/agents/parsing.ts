import { globSync } from 'node:fs';
import { join } from 'node:path';
import { drivenAgentKinds } from '@whetstone/agents/config';
import { type Aim, MEBIBYTE, type Table } from '../benchmark.ts';
import { measureNode } from '../measured-process.ts';

const NATIVE = join(import.meta.dirname, '../../packages/agents/src/native');
const PROGRAM = join(import.meta.dirname, 'parse-program.ts');

/** How fast what each released agent prints becomes events, and whether memory stays flat. */
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
    measured.push({ kind, tenth, whole, seconds: whole.wallSeconds - start.wallSeconds });
  }
  return {
    table: {
      caption: 'From what an agent prints to events',
      columns: [
        { name: 'speed', unit: 'MB/s', digits: 0 },
        { name: `peak, ${megabytes / 10} MB`, unit: 'MiB', digits: 0 },
        { name: `peak, ${megabytes} MB`, unit: 'MiB', digits: 0 },
      ],
      rows: measured.map(({ kind, tenth, whole, seconds }) => ({
        subject: kind,
        values: [megabytes / seconds, tenth.peakBytes / MEBIBYTE, whole.peakBytes / MEBIBYTE],
      })),
    },
    aims: measured.map(({ kind, tenth, whole }) => ({
      what: `peak of ${kind} against a tenth of the bytes`,
      measured: whole.peakBytes / tenth.peakBytes,
      below: 1.25,
      unit: '×',
      digits: 2,
    })),
  };
}
