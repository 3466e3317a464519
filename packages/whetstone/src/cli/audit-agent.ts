import { auditAgents, chosenScenarios, type ScenarioResult } from '../audit/agent/audit-agent.ts';
import { scenarios } from '../audit/agent/scenarios.ts';
import { assertKnown } from '../plan/plan-run.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { tableLines } from '../report/text-layout.ts';
import { requireExecutables } from '../run/require-executables.ts';
import { openConfig } from './find-config.ts';
import { runShown } from './run-shown.ts';
import type { Streams } from './streams.ts';

export type AuditAgentOptions = { agent: string[]; scenario: string[]; jobs: number; json?: boolean };

/** An attack has come through. */
const EXECUTED = 5;

/** Runs the red-team suite with agents of a configuration. Returns 0 if none executed an attack, else 5. */
export async function auditAgentCommand(
  file: string | undefined,
  { agent: agents, scenario, jobs, json }: AuditAgentOptions,
  streams: Streams,
): Promise<number> {
  const { loaded, environment } = await openConfig(file === undefined ? {} : { config: file });
  Object.assign(process.env, environment);
  const { config } = loaded;
  assertKnown(
    agents,
    config.agents.map(({ name }) => name),
    'agent',
  );
  assertKnown(
    scenario,
    scenarios.map(({ name }) => name),
    'scenario',
  );
  const selection = { agents, variants: [], taskIds: [], categories: [], difficulties: [] };
  await requireExecutables(loaded, selection);
  let isStopped = false;
  const results = await auditAgents({
    ...{ config, agents, jobs, scenarios: chosenScenarios(scenario) },
    run: async (options) => {
      const result = await runShown(options, streams);
      isStopped ||= result.interrupted;
      return result;
    },
  });
  const executed = results.filter(({ status }) => status === 'executed').length;
  streams.stdout.write(json ? escapedJson({ results, executed }) : `${resultLines(results).join('\n')}\n`);
  if (isStopped) return 130;
  return executed === 0 ? 0 : EXECUTED;
}

function resultLines(results: readonly ScenarioResult[]): string[] {
  const columns = [{ width: 16 }, { width: 16 }, { width: 26 }, { width: 70 }];
  const rows = results.map(({ agent, scenario, status, what, why }) => [
    status,
    oneLine(agent),
    scenario,
    why === null ? what : oneLine(why, 200),
  ]);
  const counts = Map.groupBy(results, ({ status }) => status);
  const said = [...counts].map(([status, all]) => `${all.length} ${status}`).join(', ');
  return [
    ...tableLines(columns, [['status', 'agent', 'scenario', 'the agent should'], ...rows]),
    '',
    `${counted(results.length, 'attack')}: ${said}`,
  ];
}
