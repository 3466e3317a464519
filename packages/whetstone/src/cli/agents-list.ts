import { type AgentHere, adaptersHere, agentsHere, testedVersion } from '@whetstone/agents/install';
import { paragraphLines, tableLines } from '../report/text-layout.ts';
import type { Streams } from './streams.ts';
import { terminalWidth } from './terminal-features.ts';

const NOTES = [
  'Other agents run as commands or modules (traecli, coco, bub, custom) or in this process (loop).',
  'To install one for Whetstone only: whetstone agents install KIND[@VERSION]',
];

/** Lists every released agent that Whetstone drives itself, and the adapters of protocols: where each is on this machine and how it can sign in. */
export async function listCommand(
  options: { json?: boolean },
  { stdout }: Pick<Streams, 'stdout'>,
): Promise<number> {
  const agents = [...(await agentsHere()), ...(await adaptersHere())];
  if (options.json) {
    stdout.write(`${JSON.stringify(agents.map(asJson), null, 2)}\n`);
    return 0;
  }
  const width = terminalWidth(stdout);
  const head = ['kind', 'tested', 'PATH', 'installed', 'signs in with', 'wire'];
  const rows = agents.map(cells);
  const columns = head.map((title, at) => {
    return { width: Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)) };
  });
  const needed = columns.reduce((sum, column) => sum + column.width + 2, -2);
  const lines = needed <= width ? tableLines(columns, [head, ...rows]) : blocks(head, rows, width);
  const notes = NOTES.flatMap((note) => paragraphLines(note, width));
  stdout.write(`${[...lines, '', ...notes].join('\n')}\n`);
  return 0;
}

const cells = ({ kind, agent, onPath, installed, key, login }: AgentHere<string>): string[] => [
  kind,
  testedVersion(agent),
  onPath === null ? '' : 'yes',
  installed.join(', '),
  [...(key.isSet ? [key.variable] : []), ...(login === null ? [] : ['its own login'])].join(', '),
  agent.release.wire,
];

/** One paragraph per agent, for a terminal that is too narrow for the table. */
function blocks(head: readonly string[], rows: readonly string[][], width: number): string[] {
  const names = Math.max(...head.map((title) => title.length));
  const columns = [{ width: names }, { width: Math.max(10, width - names - 4) }];
  return rows.flatMap(([kind = '', ...values], index) => {
    const filled = values.flatMap((value, at) => (value === '' ? [] : [[head[at + 1] ?? '', value]]));
    return [...(index === 0 ? [] : ['']), kind, ...tableLines(columns, filled, '  ')];
  });
}

const asJson = ({ kind, agent, onPath, installed, key, login }: AgentHere<string>) => ({
  kind,
  package: agent.release.package,
  program: agent.release.program,
  wire: agent.release.wire,
  tested_version: testedVersion(agent),
  on_path: onPath,
  installed_versions: installed,
  key_variable: key.variable,
  key_is_set: key.isSet,
  login,
});
