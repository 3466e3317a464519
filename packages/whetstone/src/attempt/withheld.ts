import type { LedgerLine } from '@whetstone/gateway';
import type { Mask } from '@whetstone/sandbox';
import type { CaseRow } from '../record/row.ts';

/** The agent decides how many there are, and a row must stay small. */
const MOST = 20;

/** What the gateway kept from the provider in a case: its tools, and requests to endpoints that are not served. */
export function withheldByGateway(
  calls: readonly LedgerLine[],
  mask: Mask,
): Pick<CaseRow, 'stripped_tools' | 'refused_endpoints'> {
  const tools = some(
    calls.flatMap((call) => call.stripped_tools),
    mask,
  );
  const refused = calls.filter(({ flags }) => flags.includes('endpoint-refused'));
  const endpoints = some(
    refused.map(({ method, path }) => `${method} ${path}`),
    mask,
  );
  return {
    ...(tools.length > 0 && { stripped_tools: tools }),
    ...(endpoints.length > 0 && { refused_endpoints: endpoints }),
  };
}

const some = (texts: readonly string[], mask: Mask): string[] =>
  [...new Set(texts)].slice(0, MOST).map(mask.text);
