import { present } from '@whetstone/events/present';
import { addSpending } from '../attempt/add-spending.ts';
import { consumption } from '../attempt/consumption.ts';
import { judgeSpending } from '../attempt/judge-spending.ts';
import type { Attempt, EarlierAttempts, Lab } from '../attempt/lab.ts';
import { caseLayout, runLayout } from '../record/layout.ts';
import { interruptedCalls, readCalls } from '../record/read-calls.ts';

/**
 * What the attempts of a case used that a resumed run makes again: those whose row is an error, and one that was interrupted, as
 * far as the gateway saw it. `undefined`: there was none.
 */
export function earlierAttempts(
  { planned, agent, agentConfig }: Pick<Attempt, 'planned' | 'agent' | 'agentConfig'>,
  { record, gateway }: Pick<Lab, 'record' | 'gateway'>,
): EarlierAttempts | undefined {
  const row = record.rows.get(planned.id);
  const files = caseLayout(runLayout(record.directory).case(planned.id));
  const calls = gateway ? interruptedCalls(files) : [];
  if (calls.length === 0) return row;
  const judged = readCalls(files.judgeCalls);
  // How long its agent worked is not known.
  const interrupted = {
    ...consumption({ turns: [], calls, agent, agentConfig }),
    agent_duration_seconds: null,
  };
  return {
    ...addSpending([...(row ? [row] : []), interrupted], { isMetered: true }),
    agent_duration_seconds: row?.agent_duration_seconds ?? null,
    retries: row ? row.retries + 1 : 0,
    ...present({ judge: judgeSpending(judged.length > 0 ? [{ ledger: judged, isMetered: true }] : [], row) }),
  };
}
