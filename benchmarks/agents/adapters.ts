import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DrivenAgentKind } from '@whetstone/agents/config';
import { createGateway } from '@whetstone/gateway';
import { installAgents } from '../../examples/real-agents/install.ts';
import { script } from '../../examples/real-agents/task.ts';
import { median, type Table } from '../benchmark.ts';
import type { TurnPair, TurnUse } from './turn-program.ts';

const PROGRAM = join(import.meta.dirname, 'turn-program.ts');
const KINDS: readonly DrivenAgentKind[] = ['codex-cli', 'gemini-cli'];

/** What an adapter adds to its agent: a turn through it, beside one of the bare program. */
export async function measureAdapters(pairs: number, say: (line: string) => void): Promise<Table> {
  await installAgents();
  await using gateway = await createGateway();
  const rows = [];
  for (const kind of KINDS) {
    say(`${pairs} pairs of turns of ${kind}`);
    await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
    const args = [PROGRAM, kind, String(pairs), lane.baseUrl, lane.key];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const measured: TurnPair[] = JSON.parse(stdout);
    const of = (figure: (pair: TurnPair) => number) => median(measured.map(figure));
    const added = (name: keyof TurnUse) => of(({ adapter, bare }) => adapter[name] - bare[name]);
    rows.push({
      subject: kind,
      values: [
        of(({ bare }) => bare.wallSeconds),
        of(({ adapter }) => adapter.wallSeconds),
        added('wallSeconds') * 1000,
        of(({ bare }) => bare.cpuSeconds),
        of(({ adapter }) => adapter.cpuSeconds),
        added('cpuSeconds') * 1000,
      ],
    });
  }
  return {
    caption: 'A turn',
    columns: [
      { name: 'bare, wall', unit: 's', digits: 2 },
      { name: 'adapter, wall', unit: 's', digits: 2 },
      { name: 'added, wall', unit: 'ms', digits: 0 },
      { name: 'bare, CPU', unit: 's', digits: 2 },
      { name: 'adapter, CPU', unit: 's', digits: 2 },
      { name: 'added, CPU', unit: 'ms', digits: 0 },
    ],
    rows,
  };
}
