import { toAgentConfig } from '@whetstone/agents/config';
import type { AgentHere } from '@whetstone/agents/install';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Config, GatewayConfig } from '../config/config.ts';
import { agentOfKind } from '../eval/plan-experiment.ts';
import { startProblems } from '../run/start-problems.ts';
import { agentKeys, whyNot } from '../try/setup-files.ts';
import type { Subject } from '../try/subject.ts';
import { previewInstructions } from '../workspace/preview-instructions.ts';
import { describeAgent } from './describe-agent.ts';
import type { TryOptions } from './try-options.ts';

type Noted = { name: string; note: string };

/** `others`: those that are on this machine, and why they are not used. */
export type ChosenAgents = { chosen: Noted[]; others: Noted[] };

/** As the configuration will have it. */
const FORWARDS: GatewayConfig = {
  ...{ mode: 'forward', upstreams: [], faults: [], providerTools: false, allowEndpoints: [] },
};

/** The agents that can be in the configuration, and why the others of this machine cannot. */
export async function agentsFor(subject: Subject, here: readonly AgentHere[], options: TryOptions) {
  const { agent: wanted, model, agentCommand } = options;
  if (agentCommand !== undefined) {
    const keys: Record<string, Record<string, unknown>> = {
      'my-agent': { kind: 'custom', command: agentCommand },
    };
    return { keys, others: [] };
  }
  const others: { name: string; note: string }[] = [];
  const keys: Record<string, Record<string, unknown>> = {};
  for (const one of here) {
    const why = wanted.includes(one.kind) ? undefined : whyNot(one, subject, model);
    if (why === undefined) keys[one.kind] = agentKeys(one, model);
    else others.push({ name: one.kind, note: why });
  }
  for (const name of wanted) {
    agentOfKind(name, model);
    keys[name] ??= { kind: name, ...(name === 'loop' && { profile: 'openai' }), ...present({ model }) };
  }
  // What is missing is better said before minutes of mining.
  const named = wanted.map((kind) => toAgentConfig(keys[kind] as never));
  const [problem] = await startProblems({ gateway: FORWARDS }, named, process.env);
  if (problem) throw problem.error;
  if (Object.keys(keys).length === 0) throw noAgent(subject, others);
  return { keys, others };
}

function noAgent(subject: Subject, others: readonly { name: string; note: string }[]): WhetstoneError {
  const found = others.map(({ name, note }) => `${name}: ${note}`).join('; ');
  return new WhetstoneError(
    'try-agent-missing',
    `No agent of this machine can try ${subject.name}${found === '' ? '' : ` (${found})`}.`,
    {
      hint: 'Install one with `whetstone agents install`, set its key or sign in, or name a command with --agent-command.',
    },
  );
}

/** Of the agents of a configuration: those that are wanted, else the first one that reads the subject. */
export async function chooseAgents(
  subject: Subject,
  wanted: readonly string[],
  found: { config: Config; commit: string; here: readonly AgentHere[]; others: readonly Noted[] },
): Promise<ChosenAgents> {
  const { config, commit, here, others } = found;
  // What an agent reads also depends on links and imports of the tree.
  const previews = await previewInstructions({
    ...{ config, withheld: [], commits: [commit], agents: config.agents },
    variants: config.variants.filter(({ name }) => name !== config.baseline),
  });
  const { kind, path } = subject;
  const reads = (agent: string): boolean => {
    const preview = previews.find((one) => one.agent === agent);
    return kind === 'skill' || path === undefined || !preview || preview.reads.includes(path);
  };
  const names = config.agents.map(({ name }) => name);
  const chosen = wanted.length > 0 ? wanted : names.filter(reads).slice(0, 1);
  const unused = names
    .filter((name) => !chosen.includes(name))
    .map((name) => ({
      name,
      note: reads(name) ? `--agent ${name} adds it` : `does not read ${subject.name}`,
    }));
  if (chosen.length === 0) throw noAgent(subject, [...unused, ...others]);
  const noteOf = (name: string) => {
    const one = here.find((agent) => agent.kind === name);
    return one ? `: ${describeAgent(one)}` : '';
  };
  return { chosen: chosen.map((name) => ({ name, note: noteOf(name) })), others: [...unused, ...others] };
}
