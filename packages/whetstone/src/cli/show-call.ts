import { createReadStream } from 'node:fs';
import { WhetstoneError } from '@whetstone/errors';
import { describeExchange, readExchange } from '@whetstone/gateway';
import { caseLayout } from '../record/layout.ts';
import { readCalls } from '../record/read-calls.ts';
import type { CaseRow } from '../record/row.ts';
import { escapedJson } from '../report/json.ts';
import { renderCall } from '../report/render-call.ts';
import type { TerminalOptions } from '../report/terminal.ts';

/**
 * One model call of a case, as text or, with `json`, its ledger line and its bodies. `wanted`: its number from 1, or its id.
 * @throws WhetstoneError `call-not-found`
 */
export async function showCall(
  row: CaseRow,
  directory: string,
  { wanted, json, view }: { wanted: string; json: boolean; view: TerminalOptions },
): Promise<string> {
  const files = caseLayout(directory);
  const lines = readCalls(files.modelCalls);
  const index = lines.findIndex(({ id }, at) => id === wanted || String(at + 1) === wanted);
  const line = lines[index];
  if (!line) {
    const message = `Case ${row.case_id} has no model call ${wanted}.`;
    const hint =
      lines.length === 0 ? 'No gateway saw a call of this case.' : `Its calls are 1 to ${lines.length}.`;
    throw new WhetstoneError('call-not-found', message, { where: files.modelCalls, hint });
  }
  const kept = await readExchange(createReadStream(files.exchanges), line.id);
  const readable = kept && describeExchange(kept);
  if (json) {
    return escapedJson({ number: index + 1, call: line, exchange: kept ?? null, readable: readable ?? null });
  }
  const bodies = kept && readable ? { ...kept, ...readable } : null;
  return `${renderCall({ number: index + 1, count: lines.length, line, bodies }, view)}\n`;
}
