import { present } from '@whetstone/events/present';
import { addSpending } from '../attempt/add-spending.ts';
import { consumption } from '../attempt/consumption.ts';
import { judgeSpending } from '../attempt/judge-spending.ts';
import type { Attempt, Lab } from '../attempt/lab.ts';
import { caseLayout, runLayout } from '../record/layout.ts';
import { interruptedCalls } from '../record/read-calls.ts';
import type { EarlierAttempts } from '../record/row.ts';

/**
 * What the attempts of a case used that a resumed run makes again: those that ended in an error, and those that were interrupted,
 * as far as the gateway saw them. `undefined`: there was none.
 */
export function earlierAttempts(
  { planned, agent, agentConfig }: Pick<Attempt, 'planned' | 'agent' | 'agentConfig'>,
  { record }: Pick<Lab, 'record'>,
): EarlierAttempts | undefined {
  const row = record.rows.get(planned.id);
  const started = record.interrupted.get(planned.id);
  if (!started) return row;
  const before = started.earlier ?? row;
  const files = caseLayout(runLayout(record.directory).case(planned.id));
  const { ofAgent, ofJudge } = interruptedCalls(files, started);
  if (ofAgent.length === 0 && ofJudge.length === 0) return before;
  // How long its agent worked is not known.
  const interrupted = {
    ...consumption({ turns: [], calls: ofAgent, agent, agentConfig }),
    agent_duration_seconds: null,
  };
  return {
    ...addSpending([...(before ? [before] : []), interrupted], { isMetered: true }),
    agent_duration_seconds: before?.agent_duration_seconds ?? null,
    retries: before ? before.retries + 1 : 0,
    ...present({
      judge: judgeSpending(ofJudge.length > 0 ? [{ ledger: ofJudge, isMetered: true }] : [], before),
    }),
  };
}
