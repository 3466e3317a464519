import { leadsToGateway, loginUpstreams } from '@whetstone/agents/evaluator';
import type { Lane } from '@whetstone/gateway';
import type { CaseLayout } from '../record/layout.ts';
import type { Attempt, Lab } from './lab.ts';
import { reportWaits } from './provider-waits.ts';
import type { RequestWatch } from './watch-requests.ts';

/** `names`: the values that differ between two runs of the same case, so that a recording of one run fits the other. */
export async function openLane(
  attempt: Attempt,
  { gateway, mask }: Lab,
  files: CaseLayout,
  onRequest: RequestWatch['onRequest'],
  names: Readonly<Record<string, string>>,
): Promise<Lane | undefined> {
  const { planned, agentConfig } = attempt;
  if (!gateway || !leadsToGateway(agentConfig)) return undefined;
  const { mode, ...options } = await gateway.laneOf(planned, names);
  const upstreams = 'upstreams' in mode && loginUpstreams(agentConfig);
  const waits = reportWaits(attempt);
  return gateway.server.open({
    owner: planned.id,
    ledgerFile: files.modelCalls,
    mask: mask.text,
    ...(gateway.keepsExchanges && { exchanges: { file: files.exchanges, mask: () => mask.stream() } }),
    onCall: waits.onCall,
    onRequest(request) {
      onRequest(request);
      waits.onRequest(request);
    },
    ...options,
    mode: upstreams ? { ...mode, upstreams } : mode,
  });
}
