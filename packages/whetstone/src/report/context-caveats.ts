import type { CaseResult } from './case-results.ts';
import { counted } from './format.ts';

type Row = NonNullable<CaseResult['row']>;
type ExposedRow = Row & { exposure: NonNullable<Row['exposure']> };

/**
 * What a variant declares but its agents did not see, or did not use, in some cases: one sentence per variant, agent
 * and thing. A difference between arms cannot come from something that nobody read.
 */
export function aboutTheContext(cases: readonly CaseResult[]): string[] {
  const rows = cases.flatMap(({ row }) => (row?.exposure ? [row as ExposedRow] : []));
  const groups = Map.groupBy(rows, (row) => JSON.stringify([row.variant, row.agent_name]));
  return [...groups.values()].flatMap(aboutTheGroup);
}

function aboutTheGroup(rows: readonly ExposedRow[]): string[] {
  const [first] = rows;
  if (!first) return [];
  const of = `of the variant ${first.variant} (agent ${first.agent_name})`;
  const exposures = rows.map(({ exposure }) => exposure);
  const share = (count: number) => `${count} of ${counted(rows.length, 'case')}`;

  const sentences: string[] = [];
  const read = exposures.filter(({ instructions }) => wasSeen(instructions)).length;
  const known = exposures.filter(({ instructions }) => instructions && isKnown(instructions)).length;
  if (known > 0 && read < rows.length) {
    sentences.push(`The model saw the instructions ${of} in ${share(read)}.`);
  } else if (known === 0 && first.exposure.instructions) {
    const why = 'no gateway saw its requests, and no event shows that they were read';
    sentences.push(`It is unknown whether a model saw the instructions ${of}: ${why}.`);
  }
  for (const [index, { name }] of first.exposure.skills.entries()) {
    const triggered = exposures.filter(({ skills }) => skills[index]?.triggered === 'confirmed').length;
    if (triggered < rows.length)
      sentences.push(`The skill ${name} ${of} was triggered in ${share(triggered)}.`);
  }
  for (const [index, { name }] of first.exposure.mcp_servers.entries()) {
    const called = exposures.filter((exposure) => (exposure.mcp_servers[index]?.calls ?? 0) > 0).length;
    const missing = exposures.filter((exposure) => exposure.mcp_servers[index]?.offered === false).length;
    if (called === rows.length && missing === 0) continue;
    const offered = missing > 0 ? `, and was not offered in ${missing}` : '';
    sentences.push(`The MCP server ${name} ${of} was called in ${share(called)}${offered}.`);
  }
  for (const [index, { name }] of first.exposure.plugins.entries()) {
    const known = exposures.flatMap(({ plugins }) => plugins[index]?.loaded ?? []);
    const loaded = known.filter((isLoaded) => isLoaded).length;
    if (known.length === 0) {
      const why = 'neither an event nor a model request shows it';
      sentences.push(`It is unknown whether the plugin ${name} ${of} was loaded: ${why}.`);
    } else if (loaded < rows.length) {
      sentences.push(`The plugin ${name} ${of} was loaded in ${share(loaded)}.`);
    }
  }
  return sentences;
}

type Instructions = NonNullable<ExposedRow['exposure']['instructions']>;

/** Without a gateway, and without a read in the events, it is unknown. */
const isKnown = ({ in_requests: extent, read }: Instructions): boolean => extent !== null || read !== null;

const wasSeen = (instructions: Instructions | null): boolean =>
  instructions !== null && ((instructions.in_requests ?? 'no') !== 'no' || instructions.read !== null);
