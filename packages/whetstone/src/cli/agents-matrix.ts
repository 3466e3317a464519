import { kindAliases } from '@whetstone/agents/config';
import { capabilityMatrix, kindOfRow, type MatrixRow, matrixColumns } from '@whetstone/agents/install';
import { WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import { paragraphLines } from '../report/text-layout.ts';
import type { Streams } from './streams.ts';
import { terminalWidth } from './terminal-features.ts';

/** Prints what each kind of agent can do: all kinds, or those that are named, by any of their names. */
export async function matrixCommand(
  kinds: readonly string[],
  options: { json?: boolean },
  { stdout }: Pick<Streams, 'stdout'>,
): Promise<number> {
  const all = capabilityMatrix();
  const wanted = new Set(kinds.map((kind) => rowNamed(kind, all)));
  const rows = all.filter((row) => kinds.length === 0 || wanted.has(row.agent) || wanted.has(kindOfRow(row)));
  const width = terminalWidth(stdout);
  const text = rows.map((row) => block(row, width)).join('\n');
  stdout.write(options.json ? `${JSON.stringify(rows, null, 2)}\n` : text);
  return 0;
}

function block({ agent, ...cells }: MatrixRow, width: number): string {
  const lines = Object.entries(cells).flatMap(([column, value]) =>
    value === '–' ? [] : paragraphLines(`${matrixColumns[column as keyof MatrixRow]}: ${value}`, width, '  '),
  );
  return `${[agent, ...lines].join('\n')}\n`;
}

/**
 * The row that a name means. `ai-sdk-harness` is a row of its own, although it configures a module of the user.
 * @throws WhetstoneError `agent-kind-unknown`
 */
function rowNamed(name: string, rows: readonly MatrixRow[]): string {
  const isRow = (text: string) => rows.some(({ agent }) => agent === text);
  const kind = Object.hasOwn(kindAliases, name) && !isRow(name) ? (kindAliases[name] ?? name) : name;
  if (isRow(kind)) return kind;
  throw unknownKind(name, rows);
}

function unknownKind(kind: string, rows: readonly MatrixRow[]): WhetstoneError {
  const kinds = rows.map(({ agent }) => agent);
  const meant = didYouMean(kind, kinds);
  return new WhetstoneError('agent-kind-unknown', `There is no kind of agent "${kind}".`, {
    hint: `${meant === undefined ? '' : `did you mean ${meant}? `}known: ${kinds.join(', ')}`,
  });
}
